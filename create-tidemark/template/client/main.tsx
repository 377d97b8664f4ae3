import './style.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

const root = document.querySelector('#root');
if (root) createRoot(root).render(<App />);

// So that the page opens without a network. Browsers have service workers only with https, and on this machine.
if (import.meta.env.PROD) navigator.serviceWorker?.register('/service-worker.js').catch(console.error);
// One that `npm start` has left at this address would keep its own page.
else navigator.serviceWorker?.getRegistrations().then((all) => all.map((worker) => worker.unregister()));
