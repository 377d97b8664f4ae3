import { mutationCall } from './confirmation.js';
import { LazySession } from './lazy-session.js';
import { callsByName, engineCall, namedMutators } from './mutate.js';
import type { Observable } from './observable.js';
import { type AnyOptions, type ClientOptions, checkUser, storedInstanceOf, storedViewOf } from './options.js';
import { dismissName } from './refusals.js';
import { readView } from './rows/read.js';
import { type ClientData, type ClientView, clientView } from './rows/view.js';
import type { AnyView, RowOf, ViewArgs } from './server-types.js';
import type { SessionLimits } from './session.js';
import type { PendingMutation } from './stores/types.js';
import { initialStatus, type Status } from './sync/status.js';
import type { SyncEngine } from './sync/sync-engine.js';
import type { AnyViews, InstanceOptions, InstanceParameters, Mutate, ReadTransaction, Refusal } from './types.js';
import { instanceText } from './wants/instance.js';
import type { WantOptions } from './wants/wants.js';

/** A client keeps the user's views locally, in sync with the server, and sends mutations as soon as possible. */
export interface Client<Mutators, Views extends AnyViews> {
  /** Calls mutators by their names: `client.mutate.todo.create(args)`. */
  readonly mutate: Mutate<Mutators>;
  /** The rows of a view, or of the instance with these arguments of a view that has arguments. */
  view<Name extends keyof Views & string>(
    name: Name,
    ...instance: InstanceParameters<Views[Name]>
  ): ClientView<RowOf<Views[Name]>>;
  /**
   * Wants an instance of a view, so that it is here when the page needs it. Returns a function that ends this use; the
   * instance stays wanted for its `ttl`.
   */
  preload<Name extends keyof Views & string>(
    name: Name,
    args: ViewArgs<Views[Name]>,
    options?: WantOptions,
  ): () => void;
  /** Reads several views in one state of the data. */
  query<Result>(body: (tx: ReadTransaction<Views>) => Promise<Result>): Promise<Result>;
  /** Calls the listener with the result of `body`, and again after each change. Returns an unsubscribe function. */
  subscribe<Result>(
    body: (tx: ReadTransaction<Views>) => Promise<Result>,
    listener: (result: Result) => void,
  ): () => void;
  /** The state of the connection and of the local storage. */
  readonly status: Observable<Status>;
  /** The mutations that no pull has confirmed, from all tabs, oldest first. */
  readonly pending: Observable<readonly PendingMutation[]>;
  /** The refused mutations that the server still lists. */
  readonly refused: Observable<readonly Refusal[]>;
  /** Removes a refusal from `refused`, in all tabs. */
  dismiss(refusal: Pick<Refusal, 'clientID' | 'mutationID'>): Promise<void>;
  /** Calls the listener for each new refusal. Returns an unsubscribe function. */
  onRefused(listener: (refusal: Refusal) => void): () => void;
  /** Takes the client off the network, or puts it back. */
  setOnline(online: boolean): void;
  /** Pulls from the server immediately. */
  pull(): Promise<void>;
  /** The ID of this tab's client. */
  readonly clientID: string;
  /** The ID of this browser profile, as views and mutators receive it. */
  readonly profileID: Promise<string>;
  /** Stops the client. Its local data remains. */
  close(): Promise<void>;
  /**
   * Stops the user's clients in all tabs, and deletes their local data, including pending mutations.
   *
   * @throws ClientError `data-not-deleted` if the data cannot be deleted yet; the next start deletes it
   */
  signOut(): Promise<void>;
}

/**
 * Creates a client, typed by the server's mutators and views: `createClient<typeof mutators, typeof views>({ … })`.
 * Without a `window`, such as on a server that renders pages, the client starts when it is first used.
 *
 * @throws ClientError that says what to do, if the client cannot work with these options
 */
export function createClient<Mutators, Views extends AnyViews>(
  options: ClientOptions<Mutators, Views>,
): Client<Mutators, Views> {
  const { client, session } = prepareClient(options as AnyOptions);
  if (globalThis.window) session.start();
  return client as Client<Mutators, Views>;
}

/** Creates and starts a client, whatever its types. Returns it with its engine. */
export function openClient(
  options: AnyOptions,
  limits?: SessionLimits,
): { readonly client: Client<never, AnyViews>; readonly engine: SyncEngine } {
  const { client, session } = prepareClient(options, limits);
  return { client, engine: session.start().engine };
}

/** Creates a client with its session, which has not started. */
function prepareClient(
  options: AnyOptions,
  limits: SessionLimits = {},
): { readonly client: Client<never, AnyViews>; readonly session: LazySession } {
  checkUser(options);
  const mutators = namedMutators(options.mutators ?? {});
  const session = new LazySession(options, mutators, limits);
  const data: ClientData = {
    query: async (body) => session.start().engine.query(body),
    subscribe: (body, listener) => session.start().engine.subscriptions.subscribe(body, listener),
    watch: (prefix, listener) => session.start().engine.subscriptions.watch(prefix, listener),
    use: (instance, ttl) => session.start().wants.use(instance, ttl),
    answered: session.observe(
      () => false,
      ({ engine }) => engine.answered!.latest,
    ),
    unconfirmed: session.observe(new Set(), ({ engine }) => engine.unconfirmed),
    get hasEnded() {
      return session.current?.engine.subscriptions.hasEnded ?? false;
    },
  };
  const storedView = (view: string) => storedViewOf(options, view);
  const read = <Result>(body: (tx: ReadTransaction<AnyViews>) => Promise<Result>) => {
    return (tx: Parameters<typeof readView>[0]) => body({ view: (name) => readView(tx, storedView(name)) as never });
  };
  const client: Client<never, AnyViews> = {
    mutate: callsByName((name, args) => {
      const recorded = (async () => {
        const call = engineCall(mutators, name, args);
        return session.start().engine.call(call.name, call.args);
      })();
      return mutationCall(recorded, (id) => session.start().confirmations.wait(id));
    }) as Mutate<never>,
    view: (name, args?: unknown, instanceOptions?: InstanceOptions<AnyView>) =>
      clientView(
        data,
        args === undefined ? storedView(name) : storedInstanceOf(options, name, args, instanceOptions),
      ) as never,
    preload: (name, args, { ttl } = {}) => data.use(instanceText(name, args), ttl),
    query: (body) => data.query(read(body)),
    subscribe: (body, listener) => data.subscribe(read(body), listener),
    status: session.observe(initialStatus, ({ status }) => status),
    pending: session.observe([], ({ engine }) => engine.pending),
    refused: session.observe([], ({ refusals }) => refusals.observable),
    async dismiss({ clientID, mutationID }) {
      await session.start().engine.call(dismissName, { clientID, mutationID });
    },
    onRefused: (listener) => session.start().refusals.listen(listener),
    setOnline: (online) => session.start().setOnline(online),
    pull: async () => session.start().engine.pull({ now: true }),
    get clientID() {
      return session.start().engine.clientID;
    },
    get profileID() {
      return session.start().engine.profileID;
    },
    close: () => session.close(),
    signOut: async () => session.start().signOut(),
  };
  return { client, session };
}
