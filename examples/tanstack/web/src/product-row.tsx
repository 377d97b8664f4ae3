import { type KeyboardEvent, memo, useState } from 'react';
import type { Product } from '../../src/views.js';
import { products } from './stock.js';

interface ProductRowProps {
  readonly product: Product;
  /** True if it shows data that the server has not confirmed. */
  readonly unsaved: boolean;
  /** Called with the product's ID when an edit of its name begins, and with undefined when it ends. */
  readonly onEditing: (id: string | undefined) => void;
}

interface Edit {
  /** The name when the edit began. */
  readonly opened: string;
  readonly text: string;
}

function move(id: string, by: number): void {
  products.update(id, (draft) => {
    draft.stock += by;
  });
}

/** A product: click its name to change it. */
export const ProductRow = memo(function ProductRow({ product, unsaved, onEditing }: ProductRowProps) {
  const { id, name, stock } = product;
  const [edit, setEdit] = useState<Edit>();
  const begin = () => {
    setEdit({ opened: name, text: name });
    onEditing(id);
  };
  const end = () => {
    setEdit(undefined);
    onEditing(undefined);
  };
  const rename = ({ opened, text }: Edit) => {
    end();
    const edited = text.trim();
    // A text that the user has not changed must not undo another user's rename during the edit.
    if (edited === '' || edited === opened.trim() || edited === name) return;
    products.update(id, (draft) => {
      draft.name = edited;
    });
  };
  const onKeyDown = ({ key, nativeEvent }: KeyboardEvent, current: Edit) => {
    // The key belongs to an input method that is composing text. In Safari, only the code 229 says so.
    if (nativeEvent.isComposing || nativeEvent.keyCode === 229) return;
    if (key === 'Enter') rename(current);
    if (key === 'Escape') end();
  };
  return (
    <>
      {edit === undefined ? (
        <button type="button" className="name" onClick={begin}>
          {name}
        </button>
      ) : (
        <input
          className="name"
          aria-label="Name"
          // biome-ignore lint/a11y/noAutofocus: it replaces the element that was clicked
          autoFocus
          maxLength={100}
          value={edit.text}
          onChange={({ target }) => setEdit({ ...edit, text: target.value })}
          onBlur={() => rename(edit)}
          onKeyDown={(event) => onKeyDown(event, edit)}
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
