import type { Client } from './client.js';
import { useSyncState } from './use-client.js';

/** Disconnects this client from the server, as a lost network would. */
export function OfflineSwitch({ client }: { client: Client }) {
  const { offline } = useSyncState(client);
  return (
    <button
      type="button"
      role="switch"
      className="switch"
      aria-checked={offline}
      onClick={() => client.setOffline(!offline)}
    >
      Offline
      <span className="switch-track" />
    </button>
  );
}
