import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { UserContext } from '../context.js';
import type { QuerySource } from '../sql.js';
import type { CamelCase, ColumnNames } from './columns/column-names.js';
import type { AsJSON } from './columns/json-row.js';
import { columnsOf, isTemplate } from './keys/patterns.js';

/** The input of a view's query: the user's context from `authenticate`, and two fields of the pull request. */
export interface ViewInput<Context> {
  readonly ctx: Context;
  /** The ID of the browser profile. With rows keyed by it, each profile can have its own window of a view. */
  readonly profileID: string;
  /** The version of the schema that the client was built for. */
  readonly schemaVersion: string;
}

/** The input of a view's query. */
export interface QueryInput<Context, Args> extends ViewInput<Context> {
  /** The arguments, as the view's validator `args` has returned them; undefined without a validator. */
  readonly args: Args;
}

/** How a row becomes the client's value. Default: the row as an object. */
export interface ValueOptions {
  readonly value?: string | undefined;
  readonly columns?: ColumnNames | undefined;
  readonly nulls?: 'omit' | undefined;
  readonly timestamps?: 'UTC' | undefined;
}

/** The beginning of the client's keys: the same for all users, or different for each. */
export type Prefix<Context> = string | ((input: ViewInput<Context>) => string);

/**
 * A view: a query that says which rows a user sees, and the columns that identify a row. `Value` is the type of the
 * value that the client receives for a row, `Args` the type of the arguments that it sends, and `ValidArgs` that of those
 * that the query receives.
 */
export interface View<Context, Row = unknown, Value = AsJSON<Row>, Args = unknown, ValidArgs = never>
  extends ValueOptions {
  readonly query: (input: QueryInput<Context, ValidArgs>) => QuerySource<Row>;
  /** The validator of the arguments. A view without it has no arguments, and every client has all of its rows. */
  readonly args?: StandardSchemaV1 | undefined;
  /** Arguments for the checks that need the query before a client has asked for it. */
  readonly sampleArgs?: Args | undefined;
  /** The stage of a first sync in which clients receive the view. Default 0. */
  readonly priority?: number | undefined;
  readonly key: readonly string[];
  /** The format of the keys, with columns in braces. */
  readonly template?: string | undefined;
  readonly prefix?: Prefix<Context> | undefined;
  readonly schemaVersions?: readonly string[] | undefined;
  readonly row?: StandardSchemaV1 | undefined;
  /** For the compiler: no object has this property. The client's package knows it by this name. */
  readonly '~row'?: Value;
  /** As `~row`, for the arguments. */
  readonly '~args'?: Args;
}

/** A column of a view's rows; any text if the type of the rows is unknown. */
type ColumnOf<Row> = unknown extends Row ? string : keyof NoInfer<Row> & string;

/** The argument of `defineView`. */
export interface ViewDefinition<
  Context,
  Row,
  Value extends ColumnOf<Row> = never,
  Names extends NamesOf<Row> = never,
  Nulls extends 'omit' = never,
  Args extends StandardSchemaV1 | undefined = undefined,
> {
  /**
   * A validator of arguments, such as `z.object({ projectID: z.string() })`. Each client receives only the rows for the
   * arguments that it wants. Default: the view has no arguments, and every client receives all of its rows.
   */
  readonly args?: Args;
  /**
   * Arguments with which `migrate` and servers check the view before a client has asked for it. Default: what the
   * validator's JSON Schema has as an example or a default, or else the smallest value that it accepts.
   */
  readonly sampleArgs?: InputOf<NoInfer<Args>> | undefined;
  /**
   * The stage of a first sync in which clients receive the view: those with the lowest number first. Clients of
   * `@tidemark/client` show each stage as soon as it has arrived. Default 0.
   */
  readonly priority?: number | undefined;
  /**
   * Builds the query for one user. It must depend only on its input, so equal inputs must give equal queries. The text
   * of the query must not depend on the arguments.
   */
  readonly query: (input: QueryInput<Context, OutputOf<Args>>) => QuerySource<Row>;
  /**
   * The column or columns of the result that identify a row. Together they must be unique in the view. Alternatively, a
   * template of the client's keys with these columns in braces, as in `user/{user_id}/todo/{id}`.
   */
  readonly key:
    | ColumnOf<NoInfer<Row>>
    | readonly ColumnOf<NoInfer<Row>>[]
    | `${string}{${ColumnOf<NoInfer<Row>>}}${string}`;
  /**
   * The text that precedes the row's key in the client's keys. It may depend on the user. Default: the view's name and
   * a slash, or nothing before a template.
   */
  readonly prefix?: Prefix<Context> | undefined;
  /** The column whose JSON is the client's value, instead of the whole row. SQL null becomes JSON null. */
  readonly value?: Value | undefined;
  /** The clients' names of the columns: `camelCase` for `listId` instead of `list_id`, or a name for each column. */
  readonly columns?: Names | undefined;
  /** `omit`: the client's value leaves out columns that are null. */
  readonly nulls?: Nulls | undefined;
  /** `UTC`: writes a `timestamptz` in UTC, as `2026-02-03T04:05:06.7Z`, whatever the session's time zone. */
  readonly timestamps?: 'UTC' | undefined;
  /** The schema versions of the clients that receive the view. Default: all. */
  readonly schemaVersions?: readonly string[] | undefined;
  /**
   * A validator for the client's values, from which the OpenAPI document derives their schema. Values are not
   * validated. Default: the schema follows from the columns' types.
   */
  readonly row?: StandardSchemaV1 | undefined;
}

/** The type of the arguments that a client sends. */
type InputOf<Args> = Args extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Args> : undefined;

/** The type of the arguments that a query receives. */
type OutputOf<Args> = Args extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Args> : undefined;

type NamesOf<Row> = 'camelCase' | { readonly [Column in ColumnOf<Row>]?: string };

/** The value that a client receives for a row, before it is JSON. */
type Shown<Row, Value, Names, Nulls> = [Value] extends [never]
  ? unknown extends Row
    ? Row
    : WithoutNulls<Renamed<Row, Names>, Nulls>
  : Value extends keyof Row
    ? Row[Value]
    : unknown;

type Renamed<Row, Names> = [Names] extends [never]
  ? Row
  : { [Column in keyof Row as NameOf<Column, Names>]: Row[Column] };

type NameOf<Column, Names> = Names extends 'camelCase'
  ? CamelCase<Column & string>
  : Column extends keyof Names
    ? Names[Column] & string
    : Column & string;

type WithoutNulls<Row, Nulls> = [Nulls] extends [never]
  ? Row
  : Flat<
      { [Column in keyof Row as null extends Row[Column] ? never : Column]: Row[Column] } & {
        [Column in keyof Row as null extends Row[Column] ? Column : never]?: Exclude<Row[Column], null>;
      }
    >;

type Flat<Row> = { [Column in keyof Row]: Row[Column] };

/** The type of `defineView`. */
export type DefineView<Context> = <
  Row,
  const Value extends ColumnOf<Row> = never,
  const Names extends NamesOf<Row> = never,
  const Nulls extends 'omit' = never,
  Args extends StandardSchemaV1 | undefined = undefined,
>(
  definition: ViewDefinition<Context, Row, Value, Names, Nulls, Args>,
) => View<Context, Row, AsJSON<Shown<Row, Value, Names, Nulls>>, InputOf<Args>, OutputOf<Args>>;

/** Returns `defineView` for an application's own context, named once: `const defineView = viewFor<Context>();` */
export function viewFor<Context extends UserContext>(): DefineView<Context> {
  return ({ key, ...definition }) => {
    if (typeof key !== 'string') return { ...definition, key };
    return isTemplate(key) ? { ...definition, key: columnsOf(key), template: key } : { ...definition, key: [key] };
  };
}

/** Defines a view whose `ctx` has no application fields. */
export const defineView: DefineView<UserContext> = viewFor<UserContext>();

/**
 * The type of a view's values as the client receives them: its rows, or the column that `value` names, as JSON.
 * `unknown` if the query has no type for its rows.
 */
export type RowOf<V> = V extends { readonly '~row'?: infer Row } ? Row : never;

/** The type of a view's arguments as the client sends them; undefined if it has none. */
export type ViewArgsOf<V> = V extends { readonly '~args'?: infer Args } ? Args : undefined;

/** The parameters after a view's name: the arguments of a view that has them, and none for a view that has none. */
export type InstanceParameters<V> =
  unknown extends ViewArgsOf<V>
    ? [args?: object]
    : [ViewArgsOf<V>] extends [undefined]
      ? []
      : [args: Exclude<ViewArgsOf<V>, undefined> & object];

/** An application's views, by name. */
export type Views<Context> = Readonly<Record<string, View<Context, unknown, unknown>>>;
