import type { KeyboardEvent, Ref } from 'react';
import type { Todo } from '../../src/views.js';
import { CrossIcon } from './icons.js';
import { TitleField } from './title-field.js';

interface TodoRowProps {
  readonly ref: Ref<HTMLLIElement>;
  readonly todo: Todo;
  readonly index: number;
  readonly count: number;
  /** Whether the Tab key goes to this row; the arrow keys go to all. */
  readonly reachable: boolean;
  readonly editing: boolean;
  readonly onFocus: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onTick: (done: boolean) => void;
  readonly onEdit: () => void;
  /** With the new title, or undefined when the old one stays. */
  readonly onEdited: (title: string | undefined) => void;
  readonly onLeave: () => void;
  readonly onDelete: () => void;
}

export function TodoRow(props: TodoRowProps) {
  const { ref, todo, index, count, reachable, editing, onKeyDown, onEdit, onDelete } = props;
  const { title, done } = todo;
  const tabIndex = reachable ? 0 : -1;
  return (
    <li
      ref={ref}
      className={done ? 'todo done' : 'todo'}
      data-index={index}
      aria-setsize={count}
      aria-posinset={index + 1}
      onFocus={props.onFocus}
    >
      <input
        type="checkbox"
        aria-label={title}
        checked={done}
        tabIndex={tabIndex}
        onChange={(event) => props.onTick(event.target.checked)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return onKeyDown(event);
          event.preventDefault();
          onEdit();
        }}
      />
      {editing ? (
        <TitleField title={title} onEdited={props.onEdited} onLeave={props.onLeave} />
      ) : (
        <button
          type="button"
          className="title"
          aria-label={`Edit ${title}`}
          tabIndex={tabIndex}
          onClick={onEdit}
          onKeyDown={onKeyDown}
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
        onKeyDown={onKeyDown}
      >
        <CrossIcon />
      </button>
    </li>
  );
}
