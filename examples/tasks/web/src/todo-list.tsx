import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual';
import { useStatus } from '@tidemark/client/react';
import { type KeyboardEvent, useCallback, useRef } from 'react';
import type { Todo } from '../../src/views.js';
import { newID, useClient } from './client.js';
import { NewItem } from './new-item.js';
import { TodoRow } from './todo-row.js';
import { useRoving } from './use-roving.js';

interface TodoListProps {
  readonly listID: string;
  readonly todos: readonly Todo[];
  /** False if some todos of the list may not have arrived from the server. */
  readonly complete: boolean;
}

const usualRowHeight = 45;

/** A list's todos. Only visible ones are in the DOM. */
export function TodoList({ listID, todos, complete }: TodoListProps) {
  const { mutate } = useClient();
  const scroller = useRef<HTMLDivElement>(null);
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
    mutate.todo.create({ id: newID(), listID, title, sort: (todos[0]?.sort ?? 1) - 1 });
    virtualizer.scrollToOffset(0);
  };
  const moveTo = (index: number) => {
    if (index < 0 || index >= todos.length) return;
    virtualizer.scrollToIndex(index);
    roving.focus(index);
  };
  const remove = (index: number) => {
    moveTo(index + 1 < todos.length ? index + 1 : index - 1);
    mutate.todo.delete({ id: todos[index]!.id });
  };
  const press = (event: KeyboardEvent, index: number) => {
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
  };

  return (
    <>
      <NewItem label="New todo" maxLength={1000} onAdd={add} />
      {todos.length === 0 && <NoTodos complete={complete} />}
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
              onFocus={() => roving.activate(index)}
              onPress={(event) => press(event, index)}
              onLeave={() => roving.focus(index)}
              onDelete={() => remove(index)}
            />
          ))}
        </ul>
      </div>
    </>
  );
}

function NoTodos({ complete }: Pick<TodoListProps, 'complete'>) {
  const { state } = useStatus(useClient());
  if (complete) return <p className="empty">Nothing to do here. Enjoy the calm, or add a todo above.</p>;
  if (state !== 'offline') return <p className="empty">Loading…</p>;
  return <p className="empty">The todos of this list are not in this browser yet. They arrive when you are online.</p>;
}

/** Adds the row that the Tab key reaches, so that it stays in the DOM at any scroll position. */
function withRow(rows: number[], row: number): number[] {
  return row < 0 || rows.includes(row) ? rows : [...rows, row].sort((a, b) => a - b);
}
