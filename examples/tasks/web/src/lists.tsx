import { useView } from '@tidemark/client/react';
import { addressWith, goTo, useQuery } from './address.js';
import { useClient } from './client.js';
import { ListNav } from './list-nav.js';
import { ListView } from './list-view.js';

interface ListsProps {
  readonly user: string;
  /** The query parameter that names the list that is shown. */
  readonly listParameter: string;
}

/** The user's own lists and those of others, each sorted by name, and the selected list. */
export function Lists({ user, listParameter }: ListsProps) {
  const client = useClient();
  const { rows, complete } = useView(client, 'list');
  const named = useQuery().get(listParameter);
  const lists = rows?.toSorted(
    (a, b) => Number(a.ownerID !== user) - Number(b.ownerID !== user) || a.name.localeCompare(b.name),
  );
  const list = lists?.find(({ id }) => id === named) ?? lists?.[0];
  const addressOf = (id: string) => addressWith({ [listParameter]: id });
  return (
    <div className="workspace">
      <ListNav
        user={user}
        lists={lists ?? []}
        current={list?.id}
        addressOf={addressOf}
        onCreated={(id) => goTo(addressOf(id))}
      />
      {list ? (
        <ListView key={list.id} user={user} list={list} />
      ) : (
        <p className="empty">{complete ? 'No lists yet. Give the first one a name to begin.' : 'Loading…'}</p>
      )}
    </div>
  );
}
