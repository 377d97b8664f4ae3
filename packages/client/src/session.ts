import { newRandomHash } from '#engine';
import { type ClientError, closedClient, dataNotDeleted, signedOut } from './client-error.js';
import { Confirmations } from './confirmation.js';
import { engineMutators, logDropped, type NamedMutators } from './mutate.js';
import type { Observable } from './observable.js';
import { type AnyOptions, checkPlatform, engineIndexes, storedViewOf } from './options.js';
import { connectPokes } from './poke.js';
import { dismiss, dismissName, Refusals } from './refusals.js';
import { writeView } from './rows/read.js';
import { markSignedOut } from './stores/erasure.js';
import { localStorageIfAny } from './stores/local-storage.js';
import { openStores, type StoreLimits } from './stores/open-stores.js';
import type { RequestLimits } from './sync/deadline.js';
import { Network } from './sync/network.js';
import { type Status, StatusTracker } from './sync/status.js';
import { SyncEngine } from './sync/sync-engine.js';
import { Tabs } from './tabs.js';
import { WantStore } from './wants/want-store.js';
import { Wants } from './wants/wants.js';

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
  readonly wants: Wants;
  readonly confirmations: Confirmations;
  setOnline(online: boolean): void;
  close(): Promise<void>;
  signOut(): Promise<void>;
}

/** @throws ClientError that says what to do, if the client cannot work with these options in this environment */
export function startSession(options: AnyOptions, mutators: NamedMutators, limits: SessionLimits): Session {
  checkPlatform(options);
  const { url = '', user, auth, getAuth, credentials, schemaVersion = '', kvStore = 'idb', pullInterval } = options;
  const base = url.replace(/\/+$/, '');
  const name = `tidemark ${base} ${user}`;
  const status = new StatusTracker();
  const network = new Network(limits.requests);
  const stores = openStores(kvStore, name, (cause) => status.inMemory(cause), limits.stores);
  // Outside of pages, Node warns about its own `localStorage`.
  const storage = kvStore !== 'mem' && globalThis.document ? localStorageIfAny() : undefined;
  const wants = new Wants(new WantStore(storage, name, schemaVersion, newRandomHash()));
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
    { network, credentials, status, getAuth, wants },
  );
  // If the browser refuses, it may delete the data when disk space runs low, as it may by default.
  if (options.persistentStorage) globalThis.navigator?.storage?.persist?.().catch(() => {});
  const refusals = new Refusals(engine.subscriptions);
  const { clientID, pending } = engine;
  const confirmations = new Confirmations({ clientID, pending, refused: refusals.observable });
  wants.onChange = () => void engine.pullMissing();

  const pokes = { url: `${base}/sync/poke?refused=true`, credentials, wants: wants.follow };
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
  /** @param error the error in the status; null if this tab ends the client */
  const end = (endEngine: () => Promise<void>, isSignOut: boolean, error: ClientError | null) => {
    closing ??= (async () => {
      disconnect();
      stopWatching();
      network.close();
      status.end('closed', error);
      wants.end(isSignOut);
      confirmations.end(isSignOut ? signedOut() : closedClient());
      await endEngine();
      tabs.close();
    })();
    return closing;
  };
  const signOutHere = (error: ClientError | null) => end(() => engine.signOut(), true, error);
  const tabs = new Tabs(name, () => void signOutHere(signedOut()));

  return {
    engine,
    status: status.observable,
    refusals,
    wants,
    confirmations,
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
    close: () => end(() => engine.close(), false, null),
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
