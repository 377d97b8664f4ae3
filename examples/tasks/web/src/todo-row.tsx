import { type KeyboardEvent, type Ref, useState } from 'react';
import type { Todo } from '../../src/views.js';
import { useClient } from './client.js';
import { CrossIcon } from './icons.js';
import { TitleField } from './title-field.js';

interface TodoRowProps {
  readonly ref: Ref<HTMLLIElement>;
  readonly todo: Todo;
  readonly index: number;
  readonly count: number;
  /** True if the Tab key reaches this row. The arrow keys reach all rows. */
  readonly reachable: boolean;
  readonly onFocus: () => void;
  readonly onPress: (event: KeyboardEvent) => void;
  /** Called when a key ends the edit of its title. The focus then returns to the row. */
  readonly onLeave: () => void;
  readonly onDelete: () => void;
}

export function TodoRow(props: TodoRowProps) {
  const { ref, todo, index, count, reachable, onFocus, onPress, onLeave, onDelete } = props;
  const { id, title, done } = todo;
  const { update } = useClient().mutate.todo;
  const [editing, setEditing] = useState(false);
  const tabIndex = reachable ? 0 : -1;
  const rename = (edited: string | undefined) => {
    setEditing(false);
    if (edited !== undefined) update({ id, title: edited });
  };
  return (
    <li
      ref={ref}
      className={done ? 'todo done' : 'todo'}
      data-index={index}
      aria-setsize={count}
      aria-posinset={index + 1}
      onFocus={onFocus}
    >
      <input
        type="checkbox"
        aria-label={title}
        checked={done}
        tabIndex={tabIndex}
        onChange={(event) => update({ id, done: event.target.checked })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return onPress(event);
          event.preventDefault();
          setEditing(true);
        }}
      />
      {editing ? (
        <TitleField title={title} onEdited={rename} onLeave={onLeave} />
      ) : (
        <button
          type="button"
          className="title"
          aria-label={`Edit ${title}`}
          tabIndex={tabIndex}
          onClick={() => setEditing(true)}
          onKeyDown={onPress}
        >
          {title}
        </button>
      )}
      <button
        type="button"
        className="delete"
        aria-label={`Delete ${title}`}
        tabIndex={tabIndex}
        onClick={onDelete}
        onKeyDown={onPress}
      >
        <CrossIcon />
      </button>
    </li>
  );
}
