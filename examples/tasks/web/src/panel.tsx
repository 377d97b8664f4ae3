import { addressWith, goTo, useQuery } from './address.js';
import type { Client } from './client.js';
import { ListNav } from './list-nav.js';
import { ListView } from './list-view.js';
import { OfflineSwitch } from './offline-switch.js';
import { SyncStatus } from './sync-status.js';
import { useClient, useSyncState } from './use-client.js';
import { useLists } from './use-client-view.js';

interface PanelProps {
  readonly user: string;
  /** The query parameter that names the list that is shown. */
  readonly listParameter: string;
  readonly title?: string;
}

/** The whole application for one user. */
export function Panel({ user, listParameter, title }: PanelProps) {
  const client = useClient(user);
  return (
    <div className="panel">
      <div className="panel-bar">
        {title && <h2 className="panel-title">{title}</h2>}
        {client && <SyncStatus client={client} />}
        {client && <OfflineSwitch client={client} />}
      </div>
      {client && <Lists client={client} listParameter={listParameter} />}
    </div>
  );
}

function Lists({ client, listParameter }: { client: Client; listParameter: string }) {
  const named = useQuery().get(listParameter);
  const lists = useLists(client);
  const { lastPull, reachable, offline } = useSyncState(client);
  const list = lists?.find(({ id }) => id === named) ?? lists?.[0];
  const addressOf = (id: string) => addressWith({ [listParameter]: id });
  const waiting = lists === undefined || (!lastPull && reachable && !offline);
  return (
    <div className="workspace">
      <ListNav
        client={client}
        lists={lists ?? []}
        current={list?.id}
        addressOf={addressOf}
        onCreated={(id) => goTo(addressOf(id))}
      />
      {list ? (
        <ListView key={list.id} client={client} list={list} />
      ) : (
        <p className="empty">{waiting ? 'Loading…' : 'No lists yet. Give the first one a name to begin.'}</p>
      )}
    </div>
  );
}
