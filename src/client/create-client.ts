import { connectPokes } from '../poke.js';
import type { RowOf } from '../view/define.js';
import { ClientError } from './client-error.js';
import { callsByName, engineCall, engineMutators, namedMutators, toServer } from './mutate.js';
import type { Observable } from './observable.js';
import { type AnyOptions, type ClientOptions, checkOptions, engineIndexes, placeOf } from './options.js';
import { type Refusal, Refusals } from './refused.js';
import { readView, writeView } from './rows/read.js';
import { type ClientView, clientView } from './rows/view.js';
import type { PendingMutation } from './store.js';
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

/** A client, whatever its types, and its engine. */
export function openClient(options: AnyOptions): {
  readonly client: Client<never, AnyViews>;
  readonly engine: SyncEngine;
} {
  checkOptions(options);
  const { url = '', user, auth, getAuth, credentials, schemaVersion, kvStore, pullInterval } = options;
  const base = url.replace(/\/+$/, '');
  const mutators = namedMutators(options.mutators ?? {});
  const status = new StatusTracker();
  const network = new Network();
  const place = (view: string) => placeOf(options, view);
  const engine = new SyncEngine(
    {
      name: `tidemark ${base} ${user}`,
      pullURL: `${base}/sync/pull`,
      pushURL: `${base}/sync/push`,
      auth,
      schemaVersion,
      kvStore,
      pullInterval,
      logLevel: 'error',
      mutators: engineMutators(mutators, (tx) => ({
        clientID: tx.clientID,
        mutationID: tx.mutationID,
        reason: tx.reason,
        view: (name: string) => writeView(tx, place(name)),
      })),
      indexes: engineIndexes(options),
    },
    { network, credentials, status, toServer, getAuth },
  );
  const refusals = new Refusals(engine);

  const pokes = { url: `${base}/sync/poke?refused=true`, credentials };
  const target = {
    clientGroupID: engine.authorization().then(() => engine.clientGroupID),
    profileID: engine.profileID,
    schemaVersion: engine.schemaVersion,
    get auth() {
      return engine.auth;
    },
    pull: () => engine.pull({ now: true }),
  };
  let disconnect = connectPokes(target, pokes);

  let closing: Promise<void> | undefined;
  const close = (error: ClientError | null = null) => {
    closing ??= (async () => {
      disconnect();
      network.close();
      status.end('closed', error);
      await engine.close();
      tabs.leave();
    })();
    return closing;
  };
  const tabs = new Tabs(engine.name, () => {
    const message = 'The user has signed out in another tab. What to do: show the page for signing in.';
    void close(new ClientError('signed-out', message));
  });

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
        for (const sent of [engine.push({ now: true }), engine.pull({ now: true })]) sent.catch(() => {});
      } else {
        disconnect();
        network.close();
      }
    },
    pull: () => engine.pull({ now: true }),
    clientID: engine.clientID,
    close: () => close(),
    async signOut() {
      await close();
      await tabs.closeOthers();
      await eraseDatabases(engine);
    },
  };
  return { client, engine };
}
