import type { MouseEvent } from 'react';
import type { List } from '../../src/views.js';
import { goTo } from './address.js';
import type { Client } from './client.js';
import { newID } from './keys.js';
import { NewItem } from './new-item.js';
import { useOpenCounts } from './use-client-view.js';

interface ListNavProps {
  readonly client: Client;
  readonly lists: readonly List[];
  /** The ID of the list that is shown. */
  readonly current: string | undefined;
  readonly addressOf: (id: string) => string;
  readonly onCreated: (id: string) => void;
}

export function ListNav({ client, lists, current, addressOf, onCreated }: ListNavProps) {
  const counts = useOpenCounts(client);
  const create = async (name: string) => {
    const id = newID();
    await client.rep.mutate['list.create']({ id, name });
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
                {ownerID !== client.user && <span className="list-owner"> by {ownerID}</span>}
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
