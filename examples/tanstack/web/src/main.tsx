import './page.css';
import { useLiveQuery } from '@tanstack/react-db';
import { StrictMode, useDeferredValue, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Categories } from './categories.js';
import { Products } from './products.js';
import { productsOf } from './queries.js';
import { SyncState } from './sync-state.js';

function Page() {
  const [category, setCategory] = useState('');
  const [text, setText] = useState('');
  const wanted = useDeferredValue(text);
  const { data: products, isReady } = useLiveQuery((q) => productsOf(q, category, wanted), [category, wanted]);
  return (
    <>
      <header>
        <h1>Stock</h1>
        <SyncState />
      </header>
      <main>
        <Categories chosen={category} onChoose={setCategory} />
        <section>
          <input
            type="search"
            aria-label="Search"
            placeholder="Search by name"
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          {isReady && <Products products={products} />}
        </section>
      </main>
    </>
  );
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
