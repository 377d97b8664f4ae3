import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { UserContext } from '../context.js';
import type { QuerySource } from '../sql.js';
import type { AsJSON } from './json-row.js';

/** What a view's query depends on: the user's context from `authenticate`, and two fields of the pull request. */
export interface ViewInput<Context> {
  readonly ctx: Context;
  /** The ID of the browser profile. Keep rows keyed by it to give each profile its own window of a view. */
  readonly profileID: string;
  /** The version of the schema that the client was built for. */
  readonly schemaVersion: string;
}

/** A view: a query that says which rows a user sees, and the columns that identify a row. */
export interface View<Context, Row = unknown> {
  readonly query: (input: ViewInput<Context>) => QuerySource<Row>;
  readonly key: readonly string[];
  readonly prefix?: string | undefined;
  readonly row?: StandardSchemaV1 | undefined;
}

/** A column of a view's rows; any text if the type of the rows is unknown. */
type ColumnOf<Row> = unknown extends Row ? string : keyof NoInfer<Row> & string;

/** What `defineView` takes. */
export interface ViewDefinition<Context, Row> {
  /** Builds the query for one user. It must depend only on its input: equal inputs must give equal queries. */
  readonly query: (input: ViewInput<Context>) => QuerySource<Row>;
  /** The column, or columns, of the result that identify a row. Together they must be unique in the view. */
  readonly key: ColumnOf<Row> | readonly ColumnOf<Row>[];
  /** What the client's keys start with, before the row's key. Default: the view's name and a slash. */
  readonly prefix?: string | undefined;
  /**
   * A validator for the rows, of which the OpenAPI document takes their schema; rows are not validated. Default: the
   * schema follows from the columns' types.
   */
  readonly row?: StandardSchemaV1 | undefined;
}

/** Defines a view. */
export type DefineView<Context> = <Row>(definition: ViewDefinition<Context, Row>) => View<Context, Row>;

/**
 * Returns `defineView` for an application's own context, which is named once: `const defineView = viewFor<Context>();`
 */
export function viewFor<Context extends UserContext>(): DefineView<Context> {
  return ({ query, key, prefix, row }) => ({ query, key: typeof key === 'string' ? [key] : key, prefix, row });
}

/** Defines a view whose `ctx` has no fields of the application's own. */
export const defineView: DefineView<UserContext> = viewFor<UserContext>();

/**
 * The row type of a view, as the client receives it: JSON under the names of the result's columns. `unknown` if the
 * query's type does not tell.
 */
export type RowOf<V> = V extends View<never, infer Row> ? AsJSON<Row> : never;

/** An application's views, by name. */
export type Views<Context> = Readonly<Record<string, View<Context>>>;
