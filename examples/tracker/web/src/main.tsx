import './styles/theme.css';
import './styles/parts.css';
import './styles/frame.css';
import './styles/sidebar.css';
import './styles/list.css';
import './styles/row.css';
import './styles/issue.css';
import './styles/dialogs.css';
import { StrictMode } from 'react';
import { hydrateRoot } from 'react-dom/client';
import type { FirstPage } from '../../src/web.js';
import { App } from './app.js';
import { openStore, StoreContext } from './store.js';

const firstPage = JSON.parse(document.getElementById('first-page')!.textContent!) as FirstPage;

hydrateRoot(
  document.getElementById('root')!,
  <StrictMode>
    <StoreContext value={openStore(firstPage)}>
      <App firstPage={firstPage} />
    </StoreContext>
  </StrictMode>,
);
