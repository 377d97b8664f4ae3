import { useEffect, useState, useSyncExternalStore } from 'react';
import { type Client, openClient, type SyncState } from './client.js';

/** Opens a user's client for as long as it is shown. Its data stays in the browser. */
export function useClient(user: string): Client | undefined {
  const [client, setClient] = useState<Client>();
  useEffect(() => {
    const opened = openClient(user);
    setClient(opened);
    return () => {
      setClient(undefined);
      opened.close();
    };
  }, [user]);
  return client;
}

export function useSyncState({ sync }: Client): SyncState {
  return useSyncExternalStore(sync.subscribe, sync.get);
}
