import { type KeyboardEvent, useId, useState } from 'react';
import { PlusIcon } from './icons.js';
import { isComposing } from './is-composing.js';

interface NewItemProps {
  readonly label: string;
  readonly maxLength: number;
  readonly onAdd: (text: string) => void;
}

/** A field in which Enter adds a new item with the text. */
export function NewItem({ label, maxLength, onAdd }: NewItemProps) {
  const id = useId();
  const [text, setText] = useState('');
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || isComposing(event.nativeEvent) || text.trim() === '') return;
    onAdd(text.trim());
    setText('');
  };
  return (
    <div className="new-item">
      <PlusIcon />
      <label className="hidden" htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        type="text"
        placeholder={label}
        autoComplete="off"
        maxLength={maxLength}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}
