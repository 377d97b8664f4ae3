/** The states of a table between a snapshot and now, as WITH queries over the change log. */
import type { Table } from '../../catalog/tables.js';
import { type Snapshot, unseenRanges } from '../../protocol/snapshot.js';
import { identifier } from '../../sql.js';
import { manyRows } from '../header.js';
import type { Alteration } from '../layouts/alteration.js';
import { alteredQueries } from '../layouts/altered-rows.js';

/** A table whose changes are captured, with its ID in the change log. */
export interface SyncedTable extends Table {
  readonly id: number;
  /** Changes whenever the table's columns, partitions or triggers do. */
  readonly shape: string;
  /** A digest of what is in the shape and belongs to the table itself; and one for each column, by its `attnum`. */
  readonly ownShape: string;
  readonly columnShapes: Readonly<Record<number, string>>;
  /** For each column whose type consists of something, such as the labels of an enum, a digest of that. */
  readonly typeShapes: Readonly<Record<number, string>>;
  /** A statement that reads the table must find this outline unchanged; see `tidemark.outline`. */
  readonly outline: string;
}

/** The transactions that a snapshot has not seen, as SQL expressions: the ends of ranges, as arrays of xid8. */
export interface UnseenSql {
  readonly lows: string;
  readonly highs: string;
}

/** The same as literals. */
export function unseenLiterals(snapshot: Snapshot): UnseenSql {
  const { lows, highs } = unseenRanges(snapshot);
  return { lows: `'${lows}'`, highs: `'${highs}'` };
}

/** The names of a table's WITH queries. */
export const states = {
  /** The keys that have changed since the snapshot, each with its row's image as of then (null if there was no row). */
  changed: (id: number): string => `tidemark_changed_${id}`,
  /** The current rows of the changed keys. */
  plus: (id: number): string => `tidemark_plus_${id}`,
  /** The rows of the changed keys as of the snapshot. */
  minus: (id: number): string => `tidemark_minus_${id}`,
  /** The same rows, each with a number `tidemark_row`. */
  old: (id: number): string => `tidemark_old_${id}`,
  /** The whole table as of the snapshot. */
  asof: (id: number): string => `tidemark_asof_${id}`,
  /** Some rows of `minus`, and the table as of the snapshot for whoever reads no others; see `someOldRows`. */
  someMinus: (id: number): string => `tidemark_some_minus_${id}`,
  someAsof: (id: number): string => `tidemark_some_asof_${id}`,
  /** Every row that the changed keys have had since the snapshot, including the current ones. */
  touched: (id: number): string => `tidemark_touched_${id}`,
  /** The whole table, with every row that there has been since the snapshot. */
  ever: (id: number): string => `tidemark_ever_${id}`,
};

/**
 * The WITH queries of one table for `touched` and `ever`. Log rows that leave their row unchanged are skipped.
 *
 * @param rows about how many log rows there are, as the header counts them
 */
export function everQueries(table: SyncedTable, unseen: UnseenSql, rows: number): string[] {
  const images = `tidemark_images_${table.id}`;
  const relation = identifier(table.schema, table.name);
  const keys = table.primaryKey.map(({ type }, i) => `key[${i + 1}]::${type} as k${i + 1}`);
  return [
    `${images} as materialized (
      select key, ${imageOf(table)} as old from ${unseenRows(table, unseen, rows)}
      where key is not null and hashtextextended(old, 0) is distinct from new_hash
    )`,
    `${states.touched(table.id)} as materialized (
      ${imageRows(table, images)}
      union all
      select t.* from (select distinct ${keys.join(', ')} from ${images}) c join ${relation} t on ${sameKey(table, 't')}
    )`,
    `${states.ever(table.id)} as not materialized (
      select t.* from ${relation} t union all select m.* from ${states.touched(table.id)} m where true
    )`,
  ];
}

/**
 * The WITH queries of one table for the other states. Those that no query refers to cost nothing.
 *
 * The changes of a key lead from one image to the next. So if all new images are subtracted from all old ones, only the
 * first and the last image remain. What the key was at the snapshot is the image that was changed once more often than
 * it came about. If the first and the last image are the same, nothing remains: the key has not changed.
 *
 * @param rows about how many log rows there are, as the header counts them
 * @param alteration what has become of the table since the snapshot, if it was altered
 */
export function stateQueries(table: SyncedTable, unseen: UnseenSql, rows: number, alteration?: Alteration): string[] {
  const relation = identifier(table.schema, table.name);
  return [
    ...(alteration
      ? alteredQueries(table, alteration, unseenCall(table, unseen, rows), states.changed(table.id))
      : [changedQuery(table, unseen, rows)]),
    `${states.plus(table.id)} as not materialized (
      select t.* from ${states.changed(table.id)} c join ${relation} t on ${sameKey(table, 't')}
    )`,
    `${states.minus(table.id)} as materialized (
      ${imageRows(table, states.changed(table.id))}
    )`,
    `${states.old(table.id)} as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from ${states.minus(table.id)} m
    )`,
    asofQuery(table, states.asof(table.id), states.minus(table.id)),
  ];
}

/**
 * WITH queries of one table for `someMinus` and `someAsof`. Whoever looks for a row in `asof` looks at all rows of `minus`,
 * for which there is no index.
 * @param isRead an SQL condition: a row `m` of `old` is one of those that are read
 */
export function someOldRows(table: SyncedTable, isRead: string): string[] {
  return [
    `${states.someMinus(table.id)} as materialized (
      select ${columnsOf(table, 'm')} from ${states.old(table.id)} m where ${isRead}
    )`,
    asofQuery(table, states.someAsof(table.id), states.someMinus(table.id)),
  ];
}

/** @param minus the WITH query of the old rows */
function asofQuery(table: SyncedTable, name: string, minus: string): string {
  // "where true" keeps the second arm a subquery, which lets join conditions reach the indexes of the first arm.
  return `${name} as not materialized (
      select ${columnsOf(table, 'u')}
      from (
        select t.*, false as tidemark_minus from ${identifier(table.schema, table.name)} t
        union all
        select m.*, true from ${minus} m where true
      ) u
      where u.tidemark_minus or not exists (select from ${states.changed(table.id)} c where ${sameKey(table, 'u')})
    )`;
}

function columnsOf({ columns }: Table, alias: string): string {
  return columns.map((column) => `${alias}.${identifier(column)}`).join(', ');
}

function changedQuery(table: SyncedTable, unseen: UnseenSql, rows: number): string {
  const keys = table.primaryKey.map((_, i) => `k${i + 1}`).join(', ');
  const typedKeys = table.primaryKey.map(({ type }, i) => `key[${i + 1}]::${type} as k${i + 1}`).join(', ');
  const [counts, old] = table.textMayChange ? countedImages(table, keys) : ['', 'old'];
  return `${states.changed(table.id)} as materialized (
      select distinct on (${keys}) ${keys}, case when balance > 0 then ${old} end as old
      from (
        select ${keys}, min(image) as old, sum(weight) as balance${counts}
        from (
          select ${typedKeys}, e.hash, e.image, e.weight
          from ${unseenRows(table, unseen, rows)}
          cross join lateral (values (hashtextextended(old, 0), ${imageOf(table)}, 1), (new_hash, null, -1)) e (hash, image, weight)
          where key is not null and e.hash is not null
        ) images
        group by ${keys}, hash
        having sum(weight) <> 0
      ) c
      order by ${keys}, balance desc
    )`;
}

/**
 * For a table whose rows may be other texts since a transaction wrote that goes on: its new image does not cancel the next
 * old one. How many rows came and went, and whether there is one now, tells whether there was one at the snapshot. If there
 * was, and several images remain, nothing tells which one it was.
 */
function countedImages(table: SyncedTable, keys: string): readonly [counts: string, old: string] {
  const relation = identifier(table.schema, table.name);
  return [
    `, sum(sum(weight)) over (partition by ${keys}) as net,
          sum((sum(weight) > 0)::integer) over (partition by ${keys}) as images`,
    `case when net + (select count(*) from ${relation} t where ${sameKey(table, 't')}) = 1 then
        case when images = 1 then old else tidemark.unclear_image() end
      end`,
  ];
}

/**
 * The table's unseen log rows. What was written to a table that is not a partition now is left
 * out: it was not a partition at the snapshot either, or the cookie would be of another shape.
 */
function unseenRows(table: SyncedTable, unseen: UnseenSql, rows: number): string {
  const { kind, parts } = table;
  const call = unseenCall(table, unseen, rows);
  const partitions = parts.map(({ oid }) => oid).join();
  return kind === 'p' ? `(select * from ${call} where partition = any ('{${partitions}}')) unseen` : call;
}

function unseenCall({ id }: SyncedTable, { lows, highs }: UnseenSql, rows: number): string {
  return `tidemark.${rows < manyRows ? 'unseen' : 'many_unseen'}(${id}, ${lows}, ${highs})`;
}

/**
 * A log row's image as a literal of the table's type: the rows of partitions may have their columns in another order.
 */
function imageOf({ columns, parts }: Table): string {
  const layout = JSON.stringify(columns);
  const others = parts.filter((part) => JSON.stringify(part.columns) !== layout);
  if (others.length === 0) return 'old';
  const row = columns.map((column) => `i.${identifier(column)}`).join(', ');
  const cases = others.map(
    ({ oid, schema, name }) =>
      `when '${oid}' then (select row(${row})::text from (${rowsOfImages(identifier(schema, name), '(select old) logged')}) i)`,
  );
  return `case partition ${cases.join(' ')} else old end`;
}

/** The rows, with the type's columns, whose images are in the column "old". */
function rowsOfImages(type: string, images: string): string {
  return `select (image.r).* from (select old::${type} as r from ${images} where old is not null offset 0) image`;
}

function sameKey({ primaryKey }: Table, alias: string): string {
  return primaryKey.map(({ name }, i) => `c.k${i + 1} = ${alias}.${identifier(name)}`).join(' and ');
}

/** The table's rows whose images are in the column "old" of a WITH query. */
function imageRows(table: Table, images: string): string {
  return `select ${imageColumns(table)}
      from (${rowsOfImages(identifier(table.schema, table.name), images)}) i`;
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
