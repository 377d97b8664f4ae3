import './theme.css';
import './controls.css';
import './page.css';
import './sync.css';
import './sidebar.css';
import './list.css';
import './todos.css';
import { createRoot } from 'react-dom/client';
import { AccountPage } from './account-page.js';
import { SideBySidePage } from './side-by-side-page.js';

const Page = location.pathname === '/side-by-side' ? SideBySidePage : AccountPage;

createRoot(document.getElementById('root')!).render(<Page />);
