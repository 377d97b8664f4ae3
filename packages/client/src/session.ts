import { type ClientError, dataNotDeleted, signedOut } from './client-error.js';
import { engineMutators, logDropped, type NamedMutators } from './mutate.js';
import type { Observable } from './observable.js';
import { type AnyOptions, checkPlatform, engineIndexes, storedViewOf } from './options.js';
import { connectPokes } from './poke.js';
import { dismiss, dismissName, Refusals } from './refusals.js';
import { writeView } from './rows/read.js';
import { markSignedOut } from './stores/erasure.js';
import { openStores, type StoreLimits } from './stores/open-stores.js';
import type { RequestLimits } from './sync/deadline.js';
import { Network } from './sync/network.js';
import { type Status, StatusTracker } from './sync/status.js';
import { SyncEngine } from './sync/sync-engine.js';
import { Tabs } from './tabs.js';

/** The limits of a client's requests and stores. Only tests change them. */
export interface SessionLimits {
  readonly requests?: RequestLimits;
  readonly stores?: StoreLimits;
}

/** The running parts of a client. */
export interface Session {
  readonly engine: SyncEngine;
  readonly status: Observable<Status>;
  readonly refusals: Refusals;
  setOnline(online: boolean): void;
  close(): Promise<void>;
  signOut(): Promise<void>;
}

/** @throws ClientError that says what to do, if the client cannot work with these options in this environment */
export function startSession(options: AnyOptions, mutators: NamedMutators, limits: SessionLimits): Session {
  checkPlatform(options);
  const { url = '', user, auth, getAuth, credentials, schemaVersion, kvStore = 'idb', pullInterval } = options;
  const base = url.replace(/\/+$/, '');
  const name = `tidemark ${base} ${user}`;
  const status = new StatusTracker();
  const network = new Network(limits.requests);
  const stores = openStores(kvStore, name, (cause) => status.inMemory(cause), limits.stores);
  const engine: SyncEngine = new SyncEngine(
    {
      name,
      pullURL: `${base}/sync/pull`,
      pushURL: `${base}/sync/push`,
      auth,
      schemaVersion,
      kvStore: stores,
      pullInterval,
      logLevel: 'error',
      mutators: {
        [dismissName]: dismiss,
        ...engineMutators(
          mutators,
          async (tx) => ({
            clientID: tx.clientID,
            profileID: await engine.profileID,
            mutationID: tx.mutationID,
            reason: tx.reason,
            view: (view: string) => writeView(tx, storedViewOf(options, view)),
          }),
          (tx) => engine.betweenRepeats(tx),
          logDropped,
        ),
      },
      indexes: engineIndexes(options),
    },
    { network, credentials, status, getAuth },
  );
  // If the browser refuses, it may delete the data when disk space runs low, as it may by default.
  if (options.persistentStorage) globalThis.navigator?.storage?.persist?.().catch(() => {});
  const refusals = new Refusals(engine.subscriptions);

  const pokes = { url: `${base}/sync/poke?refused=true`, credentials };
  const target = {
    clientGroupID: engine.authorization().then(() => engine.clientGroupID),
    profileID: engine.profileID,
    schemaVersion: engine.schemaVersion,
    get auth() {
      return engine.auth;
    },
    // After a 401, a poke stream requests a pull that is not urgent.
    pull: (options?: { readonly now?: boolean }) => (options?.now ? engine.pullWhenPushed() : engine.pull()),
  };
  let disconnect = connectPokes(target, pokes);

  const stopWatching = onReturn(() => network.isOpen && engine.resume());

  let closing: Promise<void> | undefined;
  const end = (endEngine: () => Promise<void>, error: ClientError | null) => {
    closing ??= (async () => {
      disconnect();
      stopWatching();
      network.close();
      status.end('closed', error);
      await endEngine();
      tabs.close();
    })();
    return closing;
  };
  const signOutHere = (error: ClientError | null) => end(() => engine.signOut(), error);
  const tabs = new Tabs(name, () => void signOutHere(signedOut()));

  return {
    engine,
    status: status.observable,
    refusals,
    setOnline(online) {
      if (closing || online === network.isOpen) return;
      status.setOnline(online);
      if (online) {
        network.open();
        disconnect = connectPokes(target, pokes);
        engine.resume();
      } else {
        disconnect();
        network.close();
      }
    },
    close: () => end(() => engine.close(), null),
    async signOut() {
      if (kvStore === 'idb') markSignedOut(name);
      await signOutHere(null);
      const othersClosed = await tabs.closeOthers();
      await stores.erase(othersClosed).catch((cause: unknown) => {
        throw dataNotDeleted(cause);
      });
    },
  };
}

/** Calls the listener when the browser is back online, and when the page becomes visible. */
function onReturn(listener: () => void): () => void {
  const { document } = globalThis;
  const onVisible = () => document.visibilityState === 'visible' && listener();
  globalThis.addEventListener?.('online', listener);
  document?.addEventListener('visibilitychange', onVisible);
  return () => {
    globalThis.removeEventListener?.('online', listener);
    document?.removeEventListener('visibilitychange', onVisible);
  };
}
