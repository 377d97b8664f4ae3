import type { AnyPgColumn } from 'drizzle-orm/pg-core';

/** The rows of a query that selects these columns, as SQL calls them. `numeric` and `bigint` arrive as numbers, or text. */
export type Rows<Columns extends Record<string, AnyPgColumn>> = {
  [Field in keyof Columns as Columns[Field]['_']['name']]: Data<Columns[Field]['_']>;
};

type Data<Column extends AnyPgColumn['_']> =
  | (Column['columnType'] extends `PgNumeric${string}` | `PgBigInt${string}` ? number | string : Column['data'])
  | (Column['notNull'] extends true ? never : null);
