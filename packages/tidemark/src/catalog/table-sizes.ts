/** Reads the sizes and indexes of tables. */
import type { Database } from '../db/database.js';
import type { Table } from './tables.js';

/** A table that views read, or a partition of one. */
export interface TableSize {
  /** As in Postgres's plans. */
  readonly schema: string;
  readonly name: string;
  /** The estimate of the last ANALYZE; -1 if the table has never been analyzed. */
  readonly rows: number;
  readonly bytes: number;
  /** The columns of each index that is not partial. An expression has an empty name. */
  readonly indexes: readonly (readonly string[])[];
}

const sizesSql = `
  select nspname::text as schema, relname::text as name, reltuples::float8 as rows, pg_relation_size(c.oid)::float8 as bytes,
    coalesce((
      select json_agg(array(
        select coalesce(attname::text, '') from unnest(i.indkey::int2[]) with ordinality key (attnum, ordinal)
        left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = key.attnum
        where ordinal <= i.indnkeyatts order by ordinal
      ))
      from pg_index i where i.indrelid = c.oid and i.indpred is null and i.indisvalid
    ), '[]') as indexes
  from pg_class c join pg_namespace n on n.oid = relnamespace
  where c.oid = any ($1::oid[]) and relkind = 'r'`;

/** Returns the sizes of a table's partitions, or of the table itself. */
export function sizesOf({ parts }: Table, sizes: readonly TableSize[]): TableSize[] {
  return sizes.filter(({ schema, name }) => parts.some((part) => part.schema === schema && part.name === name));
}

/** Estimates the number of rows of a table with all its partitions. */
export function rowsIn(table: Table, sizes: readonly TableSize[]): number {
  return sizesOf(table, sizes).reduce((sum, { rows }) => sum + Math.max(0, rows), 0);
}

/**
 * True if an index begins with all of `columns`, in any order.
 * @param optionalColumns columns that the index may have before or between them
 */
export function beginsWith(
  index: readonly string[],
  columns: readonly string[],
  optionalColumns: readonly string[] = [],
): boolean {
  const end = index.findIndex((column) => !columns.includes(column) && !optionalColumns.includes(column));
  const start = end < 0 ? index : index.slice(0, end);
  return columns.every((column) => start.includes(column));
}

/** Reads the sizes and indexes of the tables and partitions that views read. */
export async function readSizes(db: Database, tables: readonly Table[]): Promise<TableSize[]> {
  return db.query<TableSize>({
    text: sizesSql,
    values: [tables.flatMap(({ parts }) => parts.map(({ oid }) => oid))],
  });
}
