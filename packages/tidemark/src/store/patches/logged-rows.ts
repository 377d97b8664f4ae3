/** The rows of the change log that a snapshot has not seen, and the rows of tables in their images, as SQL. */
import type { Table } from '../../catalog/tables.js';
import { type Snapshot, unseenRanges } from '../../protocol/snapshot.js';
import { identifier } from '../../sql.js';
import { manyRows } from '../polls/observation.js';

/** A table with its ID in the change log. */
export interface LoggedTable extends Table {
  readonly id: number;
}

/** The transactions that a snapshot has not seen, as SQL expressions: the ends of ranges, as arrays of xid8. */
export interface UnseenSql {
  readonly lows: string;
  readonly highs: string;
}

/** Returns the transactions that a snapshot has not seen, as SQL literals. */
export function unseenLiterals(snapshot: Snapshot): UnseenSql {
  const { lows, highs } = unseenRanges(snapshot);
  return { lows: `'${lows}'`, highs: `'${highs}'` };
}

/**
 * The table's unseen log rows. If a row was written to a table that is not a partition now, it is left out: the table
 * was not a partition at the snapshot either, or the cookie would have another schema hash.
 */
export function unseenRows(table: LoggedTable, unseen: UnseenSql, rows: number): string {
  const { kind, parts } = table;
  const call = unseenCall(table, unseen, rows);
  const partitions = parts.map(({ oid }) => oid).join();
  return kind === 'p' ? `(select * from ${call} where partition = any ('{${partitions}}')) unseen` : call;
}

export function unseenCall({ id }: LoggedTable, { lows, highs }: UnseenSql, rows: number): string {
  return `tidemark.${rows < manyRows ? 'unseen' : 'many_unseen'}(${id}, ${lows}, ${highs})`;
}

/** A log row's image as a literal of the table's type, because partitions may have their columns in another order. */
export function imageOf({ columns, parts }: Table): string {
  const columnOrder = JSON.stringify(columns);
  const reorderedParts = parts.filter((part) => JSON.stringify(part.columns) !== columnOrder);
  if (reorderedParts.length === 0) return 'old';
  const row = columns.map((column) => `i.${identifier(column)}`).join(', ');
  const cases = reorderedParts.map(
    ({ oid, schema, name }) =>
      `when '${oid}' then (select row(${row})::text from (${rowsOfImages(identifier(schema, name), '(select old) logged')}) i)`,
  );
  return `case partition ${cases.join(' ')} else old end`;
}

/** The table's rows whose images are in the column "old" of a WITH query. */
export function imageRows(table: Table, images: string): string {
  return `select ${imageColumns(table)}
      from (${rowsOfImages(identifier(table.schema, table.name), images)}) i`;
}

/** The rows, with the type's columns, whose images are in the column "old". */
function rowsOfImages(type: string, images: string): string {
  return `select (image.r).* from (select old::${type} as r from ${images} where old is not null offset 0) image`;
}

/** An image has no values for virtual generated columns. */
function imageColumns({ columns, virtualColumns }: Table): string {
  return columns
    .map((column) => {
      const virtual = virtualColumns.find(({ name }) => name === column);
      return virtual ? `(${virtual.expression}) as ${identifier(column)}` : identifier(column);
    })
    .join(', ');
}
