import { Replicache } from 'replicache';
import { connectPokes } from 'tidemark/poke';
import { describePull, type LastPull } from './last-pull.js';
import { indexes, mutatorsFor } from './mutators.js';
import { createStore, type Store } from './store.js';

export interface SyncState {
  /** Whether the user has switched this client offline: nothing is sent to the server. */
  readonly offline: boolean;
  /** Whether the last request reached the server. */
  readonly reachable: boolean;
  /** Mutations that the server has not confirmed. */
  readonly pending: number;
  readonly lastPull: LastPull | undefined;
}

/** One user's client, and the state of its syncing. */
export interface Client {
  readonly user: string;
  readonly rep: Replicache<ReturnType<typeof mutatorsFor>>;
  readonly sync: Store<SyncState>;
  setOffline(offline: boolean): void;
  /** Counts the pending mutations again. Needed after a mutation that changes nothing in the client. */
  countPending(): void;
  close(): void;
}

export function openClient(user: string): Client {
  const rep = new Replicache({
    name: user,
    auth: `Bearer ${user}`,
    pullURL: '/sync/pull',
    pushURL: '/sync/push',
    mutators: mutatorsFor(user),
    indexes,
    logLevel: 'error',
  });
  const sync = createStore<SyncState>({ offline: false, reachable: true, pending: 0, lastPull: undefined });
  const { puller, pusher } = rep;
  rep.puller = async (request, requestID) => {
    requireOnline(sync);
    const start = performance.now();
    const result = await puller(request, requestID);
    const ms = Math.round(performance.now() - start);
    // The client also pulls for client groups of earlier versions of this page, to get their mutations confirmed.
    const ours = 'clientGroupID' in request && request.clientGroupID === (await rep.clientGroupID);
    const lastPull = ours && describePull(request, result.response, ms);
    if (lastPull) sync.set({ lastPull });
    return result;
  };
  rep.pusher = (request, requestID) => {
    requireOnline(sync);
    return pusher(request, requestID);
  };

  const countPending = async () => {
    const pending = rep.closed ? 0 : (await rep.experimentalPendingMutations()).length;
    if (pending !== sync.get().pending) sync.set({ pending });
  };
  rep.onSync = countPending;
  rep.experimentalWatch(countPending);
  rep.onOnlineChange = (reachable) => sync.set({ reachable });
  // This pull fails, which tells the client that it is offline. Its next own pull may be a minute away.
  const onNetworkLost = () => rep.pull({ now: true }).catch(() => {});
  addEventListener('offline', onNetworkLost);

  let stopPokes = connectPokes(rep);
  return {
    user,
    rep,
    sync,
    countPending,
    setOffline(offline) {
      sync.set({ offline });
      stopPokes();
      if (offline) return;
      stopPokes = connectPokes(rep);
      // Both reject if the client is closed in the meantime.
      Promise.all([rep.push({ now: true }), rep.pull({ now: true })]).catch(() => {});
    },
    close() {
      removeEventListener('offline', onNetworkLost);
      stopPokes();
      rep.close();
    },
  };
}

/** Throws if the switch is set to offline, as a request would without a network. The client then retries later. */
function requireOnline(sync: Store<SyncState>): void {
  if (sync.get().offline) throw new TypeError('The switch is set to offline');
}
