/** Renders the page on the server. */
import { StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import type { FirstPage } from '../../src/web.js';
import { App } from './app.js';
import { openStore, StoreContext } from './store.js';

/** Returns the page's HTML. The client of its store does nothing on the server. */
export function render(firstPage: FirstPage): string {
  return renderToString(
    <StrictMode>
      <StoreContext value={openStore(firstPage)}>
        <App firstPage={firstPage} />
      </StoreContext>
    </StrictMode>,
  );
}
