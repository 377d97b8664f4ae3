/** What a client's types say, made of those of the server's registry and views. */
import type { ArgsOf } from '../registry/types.js';
import type { RowOf, View } from '../view/define.js';

/** The types of an application's views, whatever their context. */
export type AnyViews = Readonly<Record<string, View<never>>>;

/** A field of a row that is part of its key, or its text. */
export type KeyPart = string | number | bigint | boolean;

/** A row's key without its view's prefix: the row's own field. Several key columns are an array. */
export type Key = KeyPart | readonly KeyPart[];

/** The namespaces of names with dots. */
type Spaces<Name> = Name extends `${infer Space}.${string}` ? Space : never;

/** The args of the mutators in a namespace. */
type Inside<Args, Space extends string> = {
  readonly [Name in keyof Args as Name extends `${Space}.${infer Rest}` ? Rest : never]: Args[Name];
};

/** The parts of a tree of mutators: names, in full or up to a dot. */
type Branch<Args> = (keyof Args & string) | Spaces<keyof Args & string>;

type Call<Args> = undefined extends Args ? (args?: Args) => Promise<void> : (args: Args) => Promise<void>;

type Calls<Args> = {
  readonly [Name in Branch<Args>]: (Name extends keyof Args ? Call<Args[Name]> : unknown) &
    (Name extends Spaces<keyof Args> ? Calls<Inside<Args, Name>> : unknown);
};

/**
 * Calls mutators by their names: `mutate.todo.create(args)`, or `mutate['todo.create'](args)`. The promise resolves
 * when the mutation is kept here and its optimistic effect is seen; it rejects if the client's mutator throws.
 */
export type Mutate<Mutators> = Calls<ArgsOf<Mutators>>;

/** What a mutator does here at once, until the server has had the last word. It may run several times. */
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

/** The mutators that have an optimistic effect: a tree, or a record by names with dots. */
export type ClientMutators<Mutators, Views extends AnyViews> = Tree<ArgsOf<Mutators>, Views>;

/** The value of a field that rows can be listed by. */
export type IndexValue = string | number | boolean | null;

/** The fields of a row that rows can be listed by. */
export type IndexField<Row> = unknown extends Row
  ? string
  : { readonly [Field in keyof Row]: Row[Field] extends IndexValue | undefined ? Field : never }[keyof Row] & string;

/** An index of a view: on a field, or on several, of which the first decides the order, then the second, and so on. */
export type Index<Row> = IndexField<Row> | readonly IndexField<Row>[];

/** Which rows of a view to count. */
export interface CountOptions<Row = unknown> {
  /** One of the view's `indexes`, as it is named there. Without it, rows are chosen and sorted by their keys. */
  readonly by?: Index<Row> | undefined;
  /** Only rows whose field in the index has this value, or whose first fields have these. */
  readonly equals?: IndexValue | readonly IndexValue[] | undefined;
  /** Only rows whose key starts so; with `by`, whose field is such a text: that after the fields in `equals`. */
  readonly prefix?: string | undefined;
  /** Only rows that come after the row with this key, which need not be there; with `by`, after this row. */
  readonly after?: Key | IndexedRow<Row> | undefined;
}

/**
 * Which rows of a view to list. They are sorted by the fields in `by`, then by their keys: texts by code points, times in
 * UTC by time, null last.
 */
export interface ListOptions<Row = unknown> extends CountOptions<Row> {
  /** The most rows to list. */
  readonly limit?: number | undefined;
  /** True for the opposite order. */
  readonly descending?: boolean | undefined;
}

/** A row's place in the order of an index. */
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
  /** Puts a row, new or not. */
  set(key: Key, row: Row): Promise<void>;
  /**
   * Changes fields of a row, if it is there. Those that are undefined stay as they are. If it is not there when the
   * mutator is called, the console says so.
   */
  update(key: Key, fields: Fields<Row>): Promise<void>;
  /** Deletes a row, if it is there. */
  delete(key: Key): Promise<void>;
}

/** Reads of several views that belong to one state of the data. */
export interface ReadTransaction<Views extends AnyViews> {
  view<Name extends keyof Views & string>(name: Name): ReadView<RowOf<Views[Name]>>;
}

/** What a client's mutator reads and writes. */
export interface ClientTransaction<Views extends AnyViews> {
  /** The tab that the mutation comes from. */
  readonly clientID: string;
  /** The browser profile, as views and the server's mutators receive it. */
  readonly profileID: string;
  readonly mutationID: number;
  /** `initial` for the call itself, `rebase` when it is repeated on newer data. */
  readonly reason: 'initial' | 'rebase';
  view<Name extends keyof Views & string>(name: Name): WriteView<RowOf<Views[Name]>>;
}
