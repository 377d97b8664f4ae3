import type { RowOf } from '../view/define.js';
import { closedClient } from './client-error.js';
import { callsByName, engineCall, namedMutators } from './mutate.js';
import type { Observable } from './observable.js';
import { type AnyOptions, type ClientOptions, checkUser, placeOf } from './options.js';
import { dismissName, type Refusal } from './refused.js';
import { readView } from './rows/read.js';
import { type ClientData, type ClientView, clientView } from './rows/view.js';
import { type Session, type SessionLimits, startSession } from './session.js';
import type { PendingMutation } from './stores/types.js';
import { initialStatus, type Status } from './sync/status.js';
import type { SyncEngine } from './sync/sync-engine.js';
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
  /** Removes a refusal from `refused`, in all tabs. */
  dismiss(refusal: Pick<Refusal, 'clientID' | 'mutationID'>): Promise<void>;
  /** Calls the listener for each refusal that arrives from now on. Returns a function that stops it. */
  onRefused(listener: (refusal: Refusal) => void): () => void;
  /** Takes the client off the network, or puts it back. */
  setOnline(online: boolean): void;
  /** Asks the server at once whether something has changed. */
  pull(): Promise<void>;
  /** The ID of this tab's client. */
  readonly clientID: string;
  /** The ID of this browser profile, as views and mutators receive it. */
  readonly profileID: Promise<string>;
  /** Stops the client. The data stays here. */
  close(): Promise<void>;
  /**
   * Stops the user's clients in all tabs, and deletes their data here, with the mutations that are still pending.
   *
   * @throws ClientError `data-not-deleted` if the data cannot be deleted yet; the next start deletes it
   */
  signOut(): Promise<void>;
}

/**
 * Creates a client, typed by the server's mutators and views: `createClient<typeof mutators, typeof views>({ … })`. Where
 * there is no window, as on a server that renders pages, it starts when it is first used.
 *
 * @throws ClientError that says what to do, if it cannot work with these options.
 */
export function createClient<Mutators, Views extends AnyViews>(
  options: ClientOptions<Mutators, Views>,
): Client<Mutators, Views> {
  const { client, session } = prepareClient(options as AnyOptions);
  if (globalThis.window) session();
  return client as Client<Mutators, Views>;
}

/** A client that has started, whatever its types, and its engine. */
export function openClient(
  options: AnyOptions,
  limits?: SessionLimits,
): { readonly client: Client<never, AnyViews>; readonly engine: SyncEngine } {
  const { client, session } = prepareClient(options, limits);
  return { client, engine: session().engine };
}

/** A client, and what starts it unless it has started. */
function prepareClient(
  options: AnyOptions,
  limits: SessionLimits = {},
): { readonly client: Client<never, AnyViews>; readonly session: () => Session } {
  checkUser(options);
  const mutators = namedMutators(options.mutators ?? {});
  let started: Session | undefined;
  let isClosed = false;
  const session = () => {
    if (isClosed) throw closedClient();
    started ??= startSession(options, mutators, limits);
    return started;
  };
  /** What a session shows, and `value` until there is one. To subscribe is to use the client. */
  const observe = <Value>(value: Value, of: (session: Session) => Observable<Value>): Observable<Value> => ({
    get: () => (started ? of(started).get() : value),
    subscribe: (listener) => of(session()).subscribe(listener),
  });
  const data: ClientData = {
    query: async (body) => session().engine.query(body),
    subscribe: (body, listener) => session().engine.subscriptions.subscribe(body, listener),
    watch: (prefix, listener) => session().engine.subscriptions.watch(prefix, listener),
    unconfirmed: observe(new Set(), ({ engine }) => engine.unconfirmed),
    get hasEnded() {
      return started?.engine.subscriptions.hasEnded ?? false;
    },
  };
  const place = (view: string) => placeOf(options, view);
  const read = <Result>(body: (tx: ReadTransaction<AnyViews>) => Promise<Result>) => {
    return (tx: Parameters<typeof readView>[0]) => body({ view: (name) => readView(tx, place(name)) as never });
  };
  const client: Client<never, AnyViews> = {
    mutate: callsByName(async (name, args) => {
      const call = engineCall(mutators, name, args);
      await session().engine.call(call.name, call.args);
    }) as Mutate<never>,
    view: (name) => clientView(data, place(name)) as never,
    query: (body) => data.query(read(body)),
    subscribe: (body, listener) => data.subscribe(read(body), listener),
    status: observe(initialStatus, ({ status }) => status),
    pending: observe([], ({ engine }) => engine.pending),
    refused: observe([], ({ refusals }) => refusals.observable),
    async dismiss({ clientID, mutationID }) {
      await session().engine.call(dismissName, { clientID, mutationID });
    },
    onRefused: (listener) => session().refusals.listen(listener),
    setOnline: (online) => session().setOnline(online),
    pull: async () => session().engine.pull({ now: true }),
    get clientID() {
      return session().engine.clientID;
    },
    get profileID() {
      return session().engine.profileID;
    },
    async close() {
      isClosed = !started;
      await started?.close();
    },
    signOut: async () => session().signOut(),
  };
  return { client, session };
}
