import './style.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';

const root = document.querySelector('#root');
if (root) createRoot(root).render(<App />);

// Opens the page without a network. Browsers have service workers only with https, and on this machine.
if (import.meta.env.PROD) navigator.serviceWorker?.register('/service-worker.js').catch(console.error);
// A service worker that `npm start` has left at this address would serve its own page.
else navigator.serviceWorker?.getRegistrations().then((all) => all.map((worker) => worker.unregister()));
