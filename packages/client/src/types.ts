/** The types of a client, derived from those of the server's registry and views. */
import type { AnyView, ArgsOf, RowOf, ViewArgs } from './server-types.js';

/** The types of an application's views, with any context. */
export type AnyViews = Readonly<Record<string, AnyView>>;

/** A field of a row's key, or its text. */
export type KeyPart = string | number | bigint | boolean;

/** A row's key without its view's prefix: the value of its key column, or an array for several columns. */
export type Key = KeyPart | readonly KeyPart[];

/** The namespaces of dotted names. */
type Spaces<Name> = Name extends `${infer Space}.${string}` ? Space : never;

/** The args of the mutators in a namespace. */
type Inside<Args, Space extends string> = {
  readonly [Name in keyof Args as Name extends `${Space}.${infer Rest}` ? Rest : never]: Args[Name];
};

/** The parts of a tree of mutators: names, in full or up to a dot. */
type Branch<Args> = (keyof Args & string) | Spaces<keyof Args & string>;

/** A call of a mutator: resolves when the mutation is recorded locally and its optimistic effect shows. */
export interface MutationCall extends Promise<void> {
  /**
   * Resolves when the server has applied the mutation and its effects are here. Rejects with the error of the call if it
   * is not recorded, with a ClientError `refused` if the server refuses it, and when the client is closed before that.
   */
  readonly confirmed: Promise<void>;
}

type Call<Args> = undefined extends Args ? (args?: Args) => MutationCall : (args: Args) => MutationCall;

type Calls<Args> = {
  readonly [Name in Branch<Args>]: (Name extends keyof Args ? Call<Args[Name]> : unknown) &
    (Name extends Spaces<keyof Args> ? Calls<Inside<Args, Name>> : unknown);
};

/**
 * Calls mutators by their names: `mutate.todo.create(args)`, or `mutate['todo.create'](args)`. The promise resolves
 * when the mutation is recorded locally and its optimistic effect shows; it rejects if the client's mutator throws.
 */
export type Mutate<Mutators> = Calls<ArgsOf<Mutators>>;

/** The optimistic effect of a mutator, shown until the server's result replaces it. May run several times. */
export type ClientMutator<Args, Views extends AnyViews> = (
  tx: ClientTransaction<Views>,
  args: Args,
) => Promise<void> | void;

type Tree<Args, Views extends AnyViews> = {
  readonly [Name in Branch<Args>]?:
    | (Name extends keyof Args ? ClientMutator<Args[Name], Views> : never)
    | (Name extends Spaces<keyof Args> ? Tree<Inside<Args, Name>, Views> : never)
    | undefined;
};

/** The mutators that have an optimistic effect: a tree, or a record by dotted names. */
export type ClientMutators<Mutators, Views extends AnyViews> = Tree<ArgsOf<Mutators>, Views>;

/** A mutation that the server has refused. It has no effect, neither on the server nor here. */
export interface Refusal {
  /** The ID of the client (one per tab) that sent the mutation. */
  readonly clientID: string;
  readonly mutationID: number;
  /** The mutator's name; null if the server has no mutator with the name that was called. */
  readonly name: string | null;
  /** The error code, as in docs/errors.md. */
  readonly code: string;
  /** The message to show to the user; null if there is none. */
  readonly detail: string | null;
  /** The time of the refusal, in UTC. */
  readonly at: string;
}

/** True if a row of a view belongs to the instance with these arguments. */
export type Matches<View> = (row: RowOf<View>, args: ViewArgs<View>) => boolean;

/** The options of an instance of a view. */
export interface InstanceOptions<View> {
  /** Decides which local rows belong to the instance. Default: the option `matches` of `createClient`. */
  readonly matches?: Matches<View> | undefined;
}

/** The arguments of `client.view` after the name: none for a view without arguments. */
export type InstanceParameters<View> = [ViewArgs<View>] extends [never]
  ? []
  : unknown extends ViewArgs<View>
    ? [args?: unknown, options?: InstanceOptions<View>]
    : [args: ViewArgs<View>, options?: InstanceOptions<View>];

/** The value of a field that rows can be listed by. */
export type IndexValue = string | number | boolean | null;

/** The fields of a row that rows can be listed by. */
export type IndexField<Row> = unknown extends Row
  ? string
  : { readonly [Field in keyof Row]: Row[Field] extends IndexValue | undefined ? Field : never }[keyof Row] & string;

/** An index of a view on one field, or on several that are compared in order. */
export type Index<Row> = IndexField<Row> | readonly IndexField<Row>[];

/** Selects the rows of a view to count. */
export interface CountOptions<Row = unknown> {
  /** One of the view's `indexes`, as written there. Without it, rows are selected and sorted by their keys. */
  readonly by?: Index<Row> | undefined;
  /** Only rows with this value in the first field of the index, or with these values in its first fields. */
  readonly equals?: IndexValue | readonly IndexValue[] | undefined;
  /** Only rows whose key has this prefix; with `by`, rows whose next index field after `equals` has it. */
  readonly prefix?: string | undefined;
  /** Only rows after this key, which need not exist; with `by`, only rows after this row. */
  readonly after?: Key | IndexedRow<Row> | undefined;
}

/**
 * Selects the rows of a view to list. They are sorted by the fields in `by`, then by their keys: strings by code
 * points, times in UTC by time, null last.
 */
export interface ListOptions<Row = unknown> extends CountOptions<Row> {
  /** The maximum number of rows to list. */
  readonly limit?: number | undefined;
  /** True to list in descending order. */
  readonly descending?: boolean | undefined;
}

/** A row's position in the order of an index. */
export interface IndexedRow<Row = unknown> {
  /** The row, or its fields in the index. */
  readonly row: Fields<Row>;
  readonly key: Key;
}

/** A view, in a transaction. */
export interface ReadView<Row> {
  get(key: Key): Promise<Row | undefined>;
  list(options?: ListOptions<Row>): Promise<readonly Row[]>;
  /** The number of rows that `list` would return. */
  count(options?: CountOptions<Row>): Promise<number>;
}

/** Some fields of a row. */
export type Fields<Row> = { readonly [Field in keyof Row]?: Row[Field] | undefined };

/** A view in a mutator's transaction. */
export interface WriteView<Row> extends ReadView<Row> {
  /** Inserts or replaces a row. */
  set(key: Key, row: Row): Promise<void>;
  /**
   * Changes fields of a row if it exists. Fields that are undefined stay as they are. Logs a warning if the row does
   * not exist when the mutator is first called.
   */
  update(key: Key, fields: Fields<Row>): Promise<void>;
  /** Deletes a row if it exists. */
  delete(key: Key): Promise<void>;
}

/** Reads several views in one state of the data. */
export interface ReadTransaction<Views extends AnyViews> {
  view<Name extends keyof Views & string>(name: Name): ReadView<RowOf<Views[Name]>>;
}

/** The transaction of a client's mutator. */
export interface ClientTransaction<Views extends AnyViews> {
  /** The ID of the client (one per tab) that sent the mutation. */
  readonly clientID: string;
  /** The ID of the browser profile, as views and the server's mutators receive it. */
  readonly profileID: string;
  readonly mutationID: number;
  /** `initial` for the call itself, `rebase` for a rerun on newer data. */
  readonly reason: 'initial' | 'rebase';
  view<Name extends keyof Views & string>(name: Name): WriteView<RowOf<Views[Name]>>;
}
