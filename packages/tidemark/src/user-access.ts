/** Views and mutators for code of the server, as one user. */
import type { UserContext } from './context.js';
import type { UserRequests } from './endpoints/user-requests.js';
import { checkContext } from './http/identify.js';
import type { Call } from './protocol/calls.js';
import { type CallsByName, callsByName } from './registry/calls-by-name.js';
import type { MutatorTypes, TypesOf } from './registry/types.js';
import type { InstanceParameters, RowOf, Views } from './view/define.js';
import { type Key, writeKey } from './view/keys/patterns.js';

/** The rows of a view that one snapshot of the database shows. */
export interface ViewRows<Row> {
  /** In the order of their keys. */
  readonly rows: Row[];
  /** The snapshot's cookie, from which a REST read continues: `?since=<cookie>`. */
  readonly cookie: string;
}

/** A view, as one user sees it. */
export interface UserView<Row> {
  /** Reads all rows. */
  rows(): Promise<ViewRows<Row>>;
  /** Reads the row with a key; undefined if there is none. */
  row(key: Key): Promise<Row | undefined>;
}

/** A call in a batch: a mutator's name, and the args. */
export type BatchCall<Registry = object> = [keyof TypesOf<Registry>] extends [never]
  ? { readonly name: string; readonly args?: unknown }
  : { [Name in keyof TypesOf<Registry>]: CallOf<Name, TypesOf<Registry>[Name]> }[keyof TypesOf<Registry>];

type CallOf<Name, Types> = Types extends MutatorTypes
  ? undefined extends Types['args']
    ? { readonly name: Name; readonly args?: Types['args'] }
    : { readonly name: Name; readonly args: Types['args'] }
  : never;

/** The results of the calls in a batch. */
export type BatchResults<Registry, Batch extends readonly unknown[]> = {
  -readonly [Index in keyof Batch]: Batch[Index] extends { readonly name: infer Name extends keyof TypesOf<Registry> }
    ? TypesOf<Registry>[Name] extends MutatorTypes
      ? TypesOf<Registry>[Name]['result']
      : unknown
    : unknown;
};

/**
 * Reads views and calls mutators as one user. The promises reject with the Problems that a REST caller would receive:
 * for example, with the code `mutator-error` if a mutator refuses the call.
 */
export interface UserAccess<Registry extends object = object, Defined extends Views<never> = Views<never>> {
  /** Returns a view: the rows for the arguments, if it has any. */
  view<Name extends keyof Defined & string>(
    name: Name,
    ...args: InstanceParameters<Defined[Name]>
  ): UserView<RowOf<Defined[Name]>>;
  /** Calls mutators by their names, each call in a transaction: `mutate.todo.create(args)`. Resolves with the result. */
  readonly mutate: CallsByName<Registry>;
  /** Runs several calls in order in one transaction, all or none. Resolves with their results. */
  batch<const Batch extends readonly BatchCall<Registry>[] | readonly []>(
    calls: Batch,
  ): Promise<BatchResults<Registry, Batch>>;
}

/** The access without the application's types. */
interface UntypedAccess {
  view(name: string, args?: object): UserView<unknown>;
  readonly mutate: object;
  batch(calls: readonly Call[]): Promise<readonly unknown[]>;
}

/**
 * Creates the access of one user. The last type parameters give it its types.
 * @throws TypeError for a context that `authenticate` must not return
 */
export function createUserAccess<Context extends UserContext, Registry extends object, Defined extends Views<never>>(
  ctx: Context,
  requests: Pick<UserRequests<Context>, 'read' | 'call' | 'batch'>,
): UserAccess<Registry, Defined> {
  checkContext(ctx);
  const access: UntypedAccess = {
    view: (view, args) => ({
      rows: () => requests.read(ctx, { view, args }),
      row: async (key) => (await requests.read(ctx, { view, args, key: writeKey(key) })).rows[0],
    }),
    mutate: callsByName((name, args) => requests.call(ctx, { name, args })),
    batch: (calls) => requests.batch(ctx, calls),
  };
  return access as UserAccess<Registry, Defined>;
}

/**
 * Creates the access of one user to a sync that may not have started yet.
 * @param use runs work with the user's access to the sync
 * @throws as `createUserAccess`
 */
export function accessThrough<Registry extends object, Defined extends Views<never>>(
  ctx: UserContext,
  use: <T>(work: (access: UserAccess) => Promise<T>) => Promise<T>,
): UserAccess<Registry, Defined> {
  checkContext(ctx);
  const access: UntypedAccess = {
    view: (name, args) => ({
      rows: () => use((to) => to.view(name, args).rows()),
      row: (key) => use((to) => to.view(name, args).row(key)),
    }),
    mutate: callsByName((name, args) => use((to) => (to.mutate as AnyCalls)[name]!(args))),
    batch: (calls) => use((to) => to.batch(calls)),
  };
  return access as UserAccess<Registry, Defined>;
}

/** Mutators by their dotted names. */
type AnyCalls = Readonly<Record<string, (args: unknown) => Promise<unknown>>>;
