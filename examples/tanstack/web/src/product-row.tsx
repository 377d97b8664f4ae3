import { memo, useState } from 'react';
import type { Product } from '../../src/views.js';
import { products } from './stock.js';

interface ProductRowProps {
  readonly product: Product;
  /** Whether it shows what the server has not confirmed. */
  readonly unsaved: boolean;
}

function move(id: string, by: number): void {
  products.update(id, (draft) => {
    draft.stock += by;
  });
}

/** A product: click its name to change it. */
export const ProductRow = memo(function ProductRow({ product: { id, name, stock }, unsaved }: ProductRowProps) {
  const [text, setText] = useState<string>();
  const rename = () => {
    setText(undefined);
    const trimmed = text?.trim();
    if (trimmed && trimmed !== name) {
      products.update(id, (draft) => {
        draft.name = trimmed;
      });
    }
  };
  return (
    <>
      {text === undefined ? (
        <button type="button" className="name" onClick={() => setText(name)}>
          {name}
        </button>
      ) : (
        <input
          className="name"
          aria-label="Name"
          // biome-ignore lint/a11y/noAutofocus: it takes the place of what was clicked
          autoFocus
          maxLength={100}
          value={text}
          onChange={({ target }) => setText(target.value)}
          onBlur={rename}
          onKeyDown={({ key }) => {
            if (key === 'Enter') rename();
            if (key === 'Escape') setText(undefined);
          }}
        />
      )}
      {unsaved && <span className="unsaved" role="img" aria-label="Not saved yet" />}
      <button type="button" aria-label={`Take one ${name}`} disabled={stock === 0} onClick={() => move(id, -1)}>
        −
      </button>
      <span className="stock">{stock}</span>
      <button type="button" aria-label={`Add one ${name}`} onClick={() => move(id, 1)}>
        +
      </button>
    </>
  );
});
