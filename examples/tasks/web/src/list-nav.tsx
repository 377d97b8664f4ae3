import { type MouseEvent, useEffect, useState } from 'react';
import type { List } from '../../src/views.js';
import { goTo } from './address.js';
import { newID, useClient } from './client.js';
import { NewItem } from './new-item.js';

interface ListNavProps {
  readonly user: string;
  readonly lists: readonly List[];
  /** The ID of the list that is shown. */
  readonly current: string | undefined;
  readonly addressOf: (id: string) => string;
  readonly onCreated: (id: string) => void;
}

export function ListNav({ user, lists, current, addressOf, onCreated }: ListNavProps) {
  const { mutate } = useClient();
  const counts = useOpenCounts();
  const create = async (name: string) => {
    const id = newID();
    await mutate.list.create({ id, name });
    onCreated(id);
  };
  return (
    <div className="sidebar">
      <nav aria-label="Lists">
        <ul>
          {lists.map(({ id, name, ownerID }) => (
            <li key={id}>
              <a href={addressOf(id)} aria-current={id === current ? 'page' : undefined} onClick={follow}>
                <span className="list-name">{name}</span>
                {ownerID !== user && <span className="list-owner"> by {ownerID}</span>}
                <span className="count"> {(counts.get(id) ?? 0).toLocaleString('en')}</span>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <NewItem label="New list" maxLength={200} onAdd={create} />
    </div>
  );
}

/** Follows a link without leaving the page, unless the click asks for another tab or window. */
function follow(event: MouseEvent<HTMLAnchorElement>): void {
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  goTo(event.currentTarget.href);
}

/** The number of todos that are not done, by list. Updated with each change, without reading all todos again. */
function useOpenCounts(): ReadonlyMap<string, number> {
  const client = useClient();
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(new Map());
  useEffect(() => {
    const open = new Map<string, number>();
    return client.view('todo').watch((changes) => {
      for (const { row, before } of changes) {
        if (before && !before.done) open.set(before.listID, (open.get(before.listID) ?? 0) - 1);
        if (row && !row.done) open.set(row.listID, (open.get(row.listID) ?? 0) + 1);
      }
      setCounts(new Map(open));
    });
  }, [client]);
  return counts;
}
