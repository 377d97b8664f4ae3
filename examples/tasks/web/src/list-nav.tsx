import { type MouseEvent, useRef } from 'react';
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

/** The time that the pointer must rest on a list, so that it can cross others. */
const restMs = 60;

export function ListNav({ user, lists, current, addressOf, onCreated }: ListNavProps) {
  const client = useClient();
  const create = async (name: string) => {
    const id = newID();
    await client.mutate.list.create({ id, name });
    onCreated(id);
  };
  /** Syncs a list before it is opened. It is let go immediately, and so stays in sync for five minutes. */
  const preloadList = (listID: string) => client.preload('todo', { listID })();
  const preloadTimer = useRef<ReturnType<typeof setTimeout>>(undefined);
  return (
    <div className="sidebar">
      <nav aria-label="Lists">
        <ul>
          {lists.map(({ id, name, ownerID, open }) => (
            <li key={id}>
              <a
                href={addressOf(id)}
                aria-current={id === current ? 'page' : undefined}
                onPointerEnter={() => {
                  preloadTimer.current = setTimeout(preloadList, restMs, id);
                }}
                onPointerLeave={() => clearTimeout(preloadTimer.current)}
                onFocus={() => preloadList(id)}
                onClick={follow}
              >
                <span className="list-name">{name}</span>
                {ownerID !== user && <span className="list-owner"> by {ownerID}</span>}
                <span className="count"> {open.toLocaleString('en')}</span>
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
