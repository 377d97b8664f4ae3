import { connectPokes } from '../poke.js';
import type { RowOf } from '../view/define.js';
import { type ClientError, signedOut } from './client-error.js';
import { callsByName, engineCall, engineMutators, namedMutators, tellDropped, toServer } from './mutate.js';
import type { Observable } from './observable.js';
import { type AnyOptions, type ClientOptions, checkOptions, engineIndexes, placeOf } from './options.js';
import { type Refusal, Refusals } from './refused.js';
import { readView, writeView } from './rows/read.js';
import { type ClientView, clientView } from './rows/view.js';
import { openStores, type StoreLimits } from './stores/open-stores.js';
import type { PendingMutation } from './stores/types.js';
import type { RequestLimits } from './sync/deadline.js';
import { Network } from './sync/network.js';
import { type Status, StatusTracker } from './sync/status.js';
import { SyncEngine } from './sync/sync-engine.js';
import { eraseDatabases, Tabs } from './tabs.js';
import type { AnyViews, Mutate, ReadTransaction } from './types.js';

/** A client: what the user sees, kept here and in step with the server; and what they do, sent as soon as possible. */
export interface Client<Mutators, Views extends AnyViews> {
  /** Calls mutators by their names: `client.mutate.todo.create(args)`. */
  readonly mutate: Mutate<Mutators>;
  /** The rows of a view. */
  view<Name extends keyof Views & string>(name: Name): ClientView<RowOf<Views[Name]>>;
  /** Reads several views in one state. */
  query<Result>(body: (tx: ReadTransaction<Views>) => Promise<Result>): Promise<Result>;
  /** Calls the listener with what `body` returns, and again whenever that has changed. Returns a function that stops it. */
  subscribe<Result>(
    body: (tx: ReadTransaction<Views>) => Promise<Result>,
    listener: (result: Result) => void,
  ): () => void;
  /** The state of the connection, and what is wrong with it. */
  readonly status: Observable<Status>;
  /** The mutations, of all tabs, that the server has not confirmed; the oldest first. */
  readonly pending: Observable<readonly PendingMutation[]>;
  /** The mutations that the server has refused, as far as it still tells of them. */
  readonly refused: Observable<readonly Refusal[]>;
  /** Calls the listener for each refusal that arrives from now on. Returns a function that stops it. */
  onRefused(listener: (refusal: Refusal) => void): () => void;
  /** Takes the client off the network, or puts it back. */
  setOnline(online: boolean): void;
  /** Asks the server at once whether something has changed. */
  pull(): Promise<void>;
  /** The ID of this tab's client. */
  readonly clientID: string;
  /** Stops the client. The data stays here. */
  close(): Promise<void>;
  /** Stops the user's clients in all tabs, and deletes their data here, with the mutations that are still pending. */
  signOut(): Promise<void>;
}

/**
 * Creates a client, typed by the server's mutators and views: `createClient<typeof mutators, typeof views>({ … })`.
 *
 * @throws ClientError that says what to do, if it cannot work with these options.
 */
export function createClient<Mutators, Views extends AnyViews>(
  options: ClientOptions<Mutators, Views>,
): Client<Mutators, Views> {
  return openClient(options as AnyOptions).client as Client<Mutators, Views>;
}

/**
 * A client, whatever its types, and its engine.
 * @param limits of its requests and its stores; other than the default in tests alone
 */
export function openClient(
  options: AnyOptions,
  limits: { readonly requests?: RequestLimits; readonly stores?: StoreLimits } = {},
): {
  readonly client: Client<never, AnyViews>;
  readonly engine: SyncEngine;
} {
  checkOptions(options);
  const { url = '', user, auth, getAuth, credentials, schemaVersion, kvStore = 'idb', pullInterval } = options;
  const base = url.replace(/\/+$/, '');
  const mutators = namedMutators(options.mutators ?? {});
  const status = new StatusTracker();
  const network = new Network(limits.requests);
  const place = (view: string) => placeOf(options, view);
  const engine: SyncEngine = new SyncEngine(
    {
      name: `tidemark ${base} ${user}`,
      pullURL: `${base}/sync/pull`,
      pushURL: `${base}/sync/push`,
      auth,
      schemaVersion,
      kvStore: openStores(kvStore, (cause) => status.inMemory(cause), limits.stores),
      pullInterval,
      logLevel: 'error',
      mutators: engineMutators(
        mutators,
        (tx) => ({
          clientID: tx.clientID,
          mutationID: tx.mutationID,
          reason: tx.reason,
          view: (name: string) => writeView(tx, place(name)),
        }),
        () => engine.betweenRepeats(),
        tellDropped,
      ),
      indexes: engineIndexes(options),
    },
    { network, credentials, status, toServer, getAuth },
  );
  // If the browser refuses, it may delete the data when disk space is short, as it may without this.
  if (options.persistentStorage) globalThis.navigator?.storage?.persist?.().catch(() => {});
  const refusals = new Refusals(engine);

  const pokes = { url: `${base}/sync/poke?refused=true`, credentials };
  const target = {
    clientGroupID: engine.authorization().then(() => engine.clientGroupID),
    profileID: engine.profileID,
    schemaVersion: engine.schemaVersion,
    get auth() {
      return engine.auth;
    },
    pull: () => engine.pullWhenPushed(),
  };
  let disconnect = connectPokes(target, pokes);

  const stopWatching = onReturn(() => network.isOpen && engine.resume());

  let closing: Promise<void> | undefined;
  const close = (error?: ClientError, shown: ClientError | null = error ?? null) => {
    closing ??= (async () => {
      disconnect();
      stopWatching();
      network.close();
      status.end('closed', shown);
      await engine.close(error && { error, discard: true });
      tabs.leave();
    })();
    return closing;
  };
  const tabs = new Tabs(engine.name, () => void close(signedOut()));

  const read = <Result>(body: (tx: ReadTransaction<AnyViews>) => Promise<Result>) => {
    return (tx: Parameters<typeof readView>[0]) => body({ view: (name) => readView(tx, place(name)) as never });
  };
  const client: Client<never, AnyViews> = {
    mutate: callsByName(async (name, args) => {
      const call = engineCall(mutators, name, args);
      await engine.call(call.name, call.args);
    }) as Mutate<never>,
    view: (name) => clientView(engine, place(name)) as never,
    query: (body) => engine.query(read(body)),
    subscribe: (body, listener) => engine.subscribe(read(body), { onData: listener }),
    status: status.observable,
    pending: engine.pending,
    refused: refusals.observable,
    onRefused: (listener) => refusals.listen(listener),
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
    pull: () => engine.pull({ now: true }),
    clientID: engine.clientID,
    close: () => close(),
    async signOut() {
      await close(signedOut(), null);
      await tabs.closeOthers();
      await eraseDatabases(engine);
    },
  };
  return { client, engine };
}

/** Calls the listener when the browser has a network again, and when the page becomes visible. */
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
