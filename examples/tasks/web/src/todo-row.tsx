import { type KeyboardEvent, memo, type Ref } from 'react';
import type { Todo } from '../../src/views.js';
import { CrossIcon } from './icons.js';
import { TitleField } from './title-field.js';

/** The callbacks of the rows. Each gets the index of its row. */
export type RowActions = {
  /** The row has received the focus. */
  readonly focus: (index: number) => void;
  readonly press: (event: KeyboardEvent, index: number) => void;
  readonly tick: (done: boolean, index: number) => void;
  readonly edit: (index: number) => void;
  /** Ends the edit. If `title` is undefined, the old one stays. */
  readonly rename: (title: string | undefined, index: number) => void;
  /** Returns the focus to the row when a key ends the edit of its title. */
  readonly leave: (index: number) => void;
  readonly remove: (index: number) => void;
};

interface TodoRowProps {
  readonly ref: Ref<HTMLLIElement>;
  readonly todo: Todo;
  readonly index: number;
  readonly count: number;
  /** Whether the Tab key reaches this row. The arrow keys reach all rows. */
  readonly reachable: boolean;
  readonly editing: boolean;
  readonly actions: RowActions;
}

export const TodoRow = memo(function TodoRow(props: TodoRowProps) {
  const { ref, todo, index, count, reachable, editing, actions } = props;
  const { title, done } = todo;
  const tabIndex = reachable ? 0 : -1;
  const onKeyDown = (event: KeyboardEvent) => actions.press(event, index);
  return (
    <li
      ref={ref}
      className={done ? 'todo done' : 'todo'}
      data-index={index}
      aria-setsize={count}
      aria-posinset={index + 1}
      onFocus={() => actions.focus(index)}
    >
      <input
        type="checkbox"
        aria-label={title}
        checked={done}
        tabIndex={tabIndex}
        onChange={(event) => actions.tick(event.target.checked, index)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return onKeyDown(event);
          event.preventDefault();
          actions.edit(index);
        }}
      />
      {editing ? (
        <TitleField
          title={title}
          onEdited={(edited) => actions.rename(edited, index)}
          onLeave={() => actions.leave(index)}
        />
      ) : (
        <button
          type="button"
          className="title"
          aria-label={`Edit ${title}`}
          tabIndex={tabIndex}
          onClick={() => actions.edit(index)}
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
        onClick={() => actions.remove(index)}
        onKeyDown={onKeyDown}
      >
        <CrossIcon />
      </button>
    </li>
  );
});
