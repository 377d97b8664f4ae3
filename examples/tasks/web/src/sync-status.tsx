import type { Client } from './client.js';
import type { LastPull } from './last-pull.js';
import { useSyncState } from './use-client.js';

/** Shows the state of syncing, in words and, for programs, in data attributes. */
export function SyncStatus({ client }: { client: Client }) {
  const { offline, reachable, pending, lastPull } = useSyncState(client);
  const online = reachable && !offline;
  return (
    <div
      role="status"
      aria-label="Sync"
      className="sync"
      data-online={online}
      data-pending={pending}
      data-last-pull={lastPull?.kind}
      data-ops={lastPull?.ops}
      data-ms={lastPull?.ms}
    >
      <span className="sync-online">{online ? 'Online' : 'Offline'}</span>
      {/* These change with every pull, too often to be announced by screen readers. */}
      <span className="sync-detail" aria-live="off">
        <span>{pending} pending</span>
        {lastPull && (
          <span>
            <span className="sync-label">Last pull: </span>
            {describe(lastPull)}
          </span>
        )}
      </span>
    </div>
  );
}

function describe({ kind, ops, ms }: LastPull): string {
  return `${kind}, ${ops.toLocaleString('en')} ${ops === 1 ? 'op' : 'ops'}, ${ms}\u00a0ms`;
}
