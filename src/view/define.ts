import type { UserContext } from '../context.js';
import type { QuerySource } from '../sql.js';

/** Who asks for a view: the user's context from `authenticate`, and two fields of the pull request. */
export interface ViewInput<Context> {
  readonly ctx: Context;
  /** The browser profile: keep rows keyed by it to window a view per profile. */
  readonly profileID: string;
  /** The schema that the client was built for. */
  readonly schemaVersion: string;
}

/** A client view: a query saying which rows a user sees, and the columns that identify a row. */
export interface View<Context, Row = unknown> {
  readonly query: (input: ViewInput<Context>) => QuerySource<Row>;
  readonly key: readonly string[];
  readonly prefix?: string | undefined;
}

/** A column of a view's rows; any text where the rows' type is not known. */
type ColumnOf<Row> = unknown extends Row ? string : keyof Row & string;

export interface ViewDefinition<Context, Row> {
  /** The query, built for one user. It may depend on its input alone; equal inputs must give equal queries. */
  readonly query: (input: ViewInput<Context>) => QuerySource<Row>;
  /** The column, or columns, of the result that identify a row. Together they must be unique in the view. */
  readonly key: ColumnOf<Row> | readonly ColumnOf<Row>[];
  /** What a client's key starts with, before the row's key. Default: the view's name and a slash. */
  readonly prefix?: string | undefined;
}

/** Defines a client view. */
export type DefineView<Context> = <Row>(definition: ViewDefinition<Context, Row>) => View<Context, Row>;

/** `defineView` for an application's own context, named once: `const defineView = viewFor<Context>();` */
export function viewFor<Context extends UserContext>(): DefineView<Context> {
  return ({ query, key, prefix }) => ({ query, key: typeof key === 'string' ? [key] : key, prefix });
}

/** Defines a client view whose `ctx` is the user's ID. */
export const defineView: DefineView<UserContext> = viewFor<UserContext>();

/** The row type of a view, as the client receives it. */
export type RowOf<V> = V extends View<never, infer Row> ? Row : never;

/** An application's client views by name. */
export type Views<Context> = Readonly<Record<string, View<Context>>>;
