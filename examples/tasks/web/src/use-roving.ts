import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import type { Todo } from '../../src/views.js';

/** A roving tab stop: the Tab key reaches one row, and the arrow keys move between rows. */
export interface Roving {
  /** The index of the one row that the Tab key reaches; -1 if there are no rows. */
  readonly index: number;
  /** Makes a row the one that the Tab key reaches. Called when the row receives the focus. */
  activate(index: number): void;
  /** Focuses a row as soon as it is in the DOM. */
  focus(index: number): void;
}

/**
 * Lets arrow keys move the focus between rows. Remembers the row by its todo, so that it stays the same when other
 * todos are added or removed.
 */
export function useRoving(todos: readonly Todo[], container: RefObject<HTMLElement | null>): Roving {
  const [active, setActive] = useState({ id: '', index: 0 });
  const wanted = useRef<string>(undefined);
  const index = indexOf(todos, active);

  useLayoutEffect(() => {
    if (wanted.current === undefined || todos[index]?.id !== wanted.current) return;
    const checkbox = container.current?.querySelector<HTMLElement>(`[data-index="${index}"] [type="checkbox"]`);
    if (!checkbox) return;
    wanted.current = undefined;
    checkbox.focus({ preventScroll: true });
  });

  const activate = (row: number) => {
    const id = todos[row]!.id;
    if (id !== active.id || row !== active.index) setActive({ id, index: row });
  };
  return {
    index,
    activate,
    focus(row) {
      wanted.current = todos[row]!.id;
      setActive({ id: wanted.current, index: row });
    },
  };
}

function indexOf(todos: readonly Todo[], { id, index }: { id: string; index: number }): number {
  if (todos[index]?.id === id) return index;
  const found = todos.findIndex((todo) => todo.id === id);
  return found >= 0 ? found : Math.min(index, todos.length - 1);
}
