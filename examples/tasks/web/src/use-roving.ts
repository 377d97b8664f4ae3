import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import type { Todo } from '../../src/views.js';

export interface Roving {
  /** The one row that the Tab key reaches; -1 without rows. */
  readonly index: number;
  /** Makes a row that one, when it has got the focus. */
  activate(index: number): void;
  /** Gives a row the focus, once it is in the document. */
  focus(index: number): void;
}

/**
 * Lets arrow keys move the focus between rows. The row is remembered by its todo, so it stays when others come and go.
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
