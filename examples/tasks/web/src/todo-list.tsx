import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useRef, useState } from 'react';
import type { Todo } from '../../src/views.js';
import type { Client } from './client.js';
import { newID } from './keys.js';
import { NewItem } from './new-item.js';
import { type RowActions, TodoRow } from './todo-row.js';
import { useRoving } from './use-roving.js';
import { useStable } from './use-stable.js';

interface TodoListProps {
  readonly rep: Client['rep'];
  readonly listID: string;
  readonly todos: readonly Todo[];
}

const usualRowHeight = 45;

/** A list's todos. Only those in sight are in the DOM. */
export function TodoList({ rep, listID, todos }: TodoListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [editing, setEditing] = useState<string>();
  const roving = useRoving(todos, scroller);
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLLIElement>({
    count: todos.length,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => todos[index]!.id, [todos]),
    estimateSize: () => usualRowHeight,
    overscan: 8,
    directDomUpdates: true,
    rangeExtractor: useCallback((range: Range) => withRow(defaultRangeExtractor(range), roving.index), [roving.index]),
  });

  const add = (title: string) => {
    rep.mutate['todo.create']({ id: newID(), listID, title, sort: (todos[0]?.sort ?? 1) - 1 });
    virtualizer.scrollToOffset(0);
  };
  const moveTo = (index: number) => {
    if (index < 0 || index >= todos.length) return;
    virtualizer.scrollToIndex(index);
    roving.focus(index);
  };
  const remove = (index: number) => {
    moveTo(index + 1 < todos.length ? index + 1 : index - 1);
    rep.mutate['todo.delete']({ id: todos[index]!.id });
  };
  const actions = useStable<RowActions>({
    focus: roving.activate,
    press(event, index) {
      const moves: Record<string, number> = {
        ArrowUp: index - 1,
        ArrowDown: index + 1,
        Home: 0,
        End: todos.length - 1,
      };
      const target = moves[event.key];
      if (target !== undefined) moveTo(target);
      else if (event.key === 'Delete') remove(index);
      else return;
      event.preventDefault();
    },
    tick: (done, index) => rep.mutate['todo.update']({ id: todos[index]!.id, done }),
    edit: (index) => setEditing(todos[index]!.id),
    rename(title, index) {
      setEditing(undefined);
      if (title !== undefined) rep.mutate['todo.update']({ id: todos[index]!.id, title });
    },
    leave: roving.focus,
    remove,
  });

  return (
    <>
      <NewItem label="New todo" maxLength={1000} onAdd={add} />
      {todos.length === 0 && <p className="empty">Nothing to do here. Enjoy the calm, or add a todo above.</p>}
      <div className="todos" ref={scroller}>
        <ul aria-label="Todos" ref={virtualizer.containerRef}>
          {virtualizer.getVirtualItems().map(({ index, key }) => (
            <TodoRow
              key={key}
              ref={virtualizer.measureElement}
              todo={todos[index]!}
              index={index}
              count={todos.length}
              reachable={index === roving.index}
              editing={todos[index]!.id === editing}
              actions={actions}
            />
          ))}
        </ul>
      </div>
    </>
  );
}

/** Adds the row that the Tab key reaches, so that it stays in the DOM wherever the list is scrolled to. */
function withRow(rows: number[], row: number): number[] {
  return row < 0 || rows.includes(row) ? rows : [...rows, row].sort((a, b) => a - b);
}
