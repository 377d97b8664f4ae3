/** The states of a table between a snapshot and now, as WITH queries over the change log. */
import { identifier } from '../../sql.js';
import type { TableState } from '../../view/compile/rewrite.js';
import type { SchemaChange } from '../row-formats/schema-change.js';
import { schemaChangeQueries } from '../row-formats/schema-change-sql.js';
import { imageOf, imageRows, type LoggedTable, type UnseenSql, unseenCall, unseenRows } from './logged-rows.js';

/** A table whose changes are captured, with its ID in the change log. */
export interface SyncedTable extends LoggedTable {
  /** Changes whenever the table's columns, partitions or triggers do. */
  readonly schemaHash: string;
  /** Digests of the parts of the schema hash: one for the table itself, and one for each column, by its `attnum`. */
  readonly ownHash: string;
  readonly columnHashes: Readonly<Record<number, string>>;
  /** For each column whose type has parts, such as the labels of an enum, a digest of these. */
  readonly typeHashes: Readonly<Record<number, string>>;
  /** A statement that reads the table must find this fingerprint unchanged; see `tidemark.relation_fingerprint`. */
  readonly fingerprint: string;
}

/** The names of a table's WITH queries. */
export const states = {
  /** The keys changed since the snapshot, each with its row's image as of the snapshot (null if there was no row). */
  changedKeys: (id: number): string => `tidemark_changed_keys_${id}`,
  /** The current rows of the changed keys. */
  newRows: (id: number): string => `tidemark_new_rows_${id}`,
  /** The rows of the changed keys as of the snapshot. */
  oldRows: (id: number): string => `tidemark_old_rows_${id}`,
  /** The rows of `oldRows`, each with a number `tidemark_row`. */
  numberedOldRows: (id: number): string => `tidemark_numbered_old_rows_${id}`,
  /** The whole table as of the snapshot. */
  asOf: (id: number): string => `tidemark_as_of_${id}`,
  /** Some of `oldRows`, and `asOf` for queries that read no other old rows; see `oldRowsSubsetQueries`. */
  someOldRows: (id: number): string => `tidemark_some_old_rows_${id}`,
  someAsOf: (id: number): string => `tidemark_some_as_of_${id}`,
  /** Every row that the changed keys have had since the snapshot, including the current ones. */
  versions: (id: number): string => `tidemark_versions_${id}`,
  /** The whole table, with every row that has existed since the snapshot. */
  allVersions: (id: number): string => `tidemark_all_versions_${id}`,
};

/**
 * Returns the states in which a query reads its tables as of the snapshot.
 * @param occurrenceTables the OID of the table that each occurrence in the query reads
 * @param tables the changed tables, by OID
 */
export function statesAsOf(
  occurrenceTables: readonly number[],
  tables: ReadonlyMap<number, SyncedTable>,
): TableState[] {
  const changed = occurrenceTables.map((oid) => tables.get(oid)?.id);
  return changed.map((id) => (id === undefined ? 'now' : states.asOf(id)));
}

/**
 * The WITH queries of one table for `versions` and `allVersions`. They skip log rows that leave their row unchanged.
 *
 * @param rows the approximate number of log rows, as a poll counts them
 */
export function versionQueries(table: SyncedTable, unseen: UnseenSql, rows: number): string[] {
  const images = `tidemark_images_${table.id}`;
  const relation = identifier(table.schema, table.name);
  const keys = table.primaryKey.map(({ type }, i) => `key[${i + 1}]::${type} as k${i + 1}`);
  return [
    `${images} as materialized (
      select key, ${imageOf(table)} as old from ${unseenRows(table, unseen, rows)}
      where key is not null and hashtextextended(old, 0) is distinct from new_hash
    )`,
    `${states.versions(table.id)} as materialized (
      ${imageRows(table, images)}
      union all
      select t.* from (select distinct ${keys.join(', ')} from ${images}) c join ${relation} t on ${sameKey(table, 't')}
    )`,
    `${states.allVersions(table.id)} as not materialized (
      select t.* from ${relation} t union all select m.* from ${states.versions(table.id)} m where true
    )`,
  ];
}

/**
 * The WITH queries of one table for the other states. Those that no query refers to cost nothing.
 *
 * The changes of a key lead from one image to the next. So if all new images are subtracted from all old ones, only the
 * first and the last image remain. The row as of the snapshot is the image that was replaced once more often than it
 * was written. If the first and the last image are the same, nothing remains: the key has not changed.
 *
 * @param rows the approximate number of log rows, as a poll counts them
 * @param schemaChange how the table was altered since the snapshot, if it was
 */
export function stateQueries(
  table: SyncedTable,
  unseen: UnseenSql,
  rows: number,
  schemaChange?: SchemaChange,
): string[] {
  const relation = identifier(table.schema, table.name);
  return [
    ...(schemaChange
      ? schemaChangeQueries(table, schemaChange, unseenCall(table, unseen, rows), states.changedKeys(table.id))
      : [changedKeysQuery(table, unseen, rows)]),
    `${states.newRows(table.id)} as not materialized (
      select t.* from ${states.changedKeys(table.id)} c join ${relation} t on ${sameKey(table, 't')}
    )`,
    `${states.oldRows(table.id)} as materialized (
      ${imageRows(table, states.changedKeys(table.id))}
    )`,
    `${states.numberedOldRows(table.id)} as materialized (
      select m.*, pg_catalog.row_number() over () as tidemark_row from ${states.oldRows(table.id)} m
    )`,
    asOfQuery(table, states.asOf(table.id), states.oldRows(table.id)),
  ];
}

/**
 * The WITH queries of one table for `someOldRows` and `someAsOf`. A query that looks up a row in `asOf` reads all of
 * `oldRows`, which has no index.
 * @param isRead an SQL condition: the query reads a row `m` of `numberedOldRows`
 */
export function oldRowsSubsetQueries(table: SyncedTable, isRead: string): string[] {
  return [
    `${states.someOldRows(table.id)} as materialized (
      select ${columnsOf(table, 'm')} from ${states.numberedOldRows(table.id)} m where ${isRead}
    )`,
    asOfQuery(table, states.someAsOf(table.id), states.someOldRows(table.id)),
  ];
}

/** @param oldRows the WITH query of the old rows */
function asOfQuery(table: SyncedTable, name: string, oldRows: string): string {
  // "where true" keeps the second arm a subquery, which lets join conditions reach the indexes of the first arm.
  return `${name} as not materialized (
      select ${columnsOf(table, 'u')}
      from (
        select t.*, false as tidemark_is_old from ${identifier(table.schema, table.name)} t
        union all
        select m.*, true from ${oldRows} m where true
      ) u
      where u.tidemark_is_old or not exists (select from ${states.changedKeys(table.id)} c where ${sameKey(table, 'u')})
    )`;
}

function columnsOf({ columns }: SyncedTable, alias: string): string {
  return columns.map((column) => `${alias}.${identifier(column)}`).join(', ');
}

function changedKeysQuery(table: SyncedTable, unseen: UnseenSql, rows: number): string {
  const keys = table.primaryKey.map((_, i) => `k${i + 1}`).join(', ');
  const typedKeys = table.primaryKey.map(({ type }, i) => `key[${i + 1}]::${type} as k${i + 1}`).join(', ');
  const [counts, old] = table.textMayChange ? countedImages(table, keys) : ['', 'old'];
  return `${states.changedKeys(table.id)} as materialized (
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
 * For a table whose row text may have changed while a transaction that wrote to it was open. Its new image then does
 * not cancel the next old image. The current row, and the number of rows added and removed, show whether there was a
 * row at the snapshot. If there was one and several images remain, the query cannot choose between them.
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

function sameKey({ primaryKey }: SyncedTable, alias: string): string {
  return primaryKey.map(({ name }, i) => `c.k${i + 1} = ${alias}.${identifier(name)}`).join(' and ');
}
