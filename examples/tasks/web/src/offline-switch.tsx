import type { Client } from './client.js';
import { useSyncState } from './use-client.js';

/** Cuts this client off from the server, as a lost network would. */
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
