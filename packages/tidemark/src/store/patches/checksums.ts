/** Queries for checksums of the rows that clients have, and for the rows with given hashes. */
import type { Database } from '../../db/database.js';
import { type CellFields, type Checksum, cellBits, groups, toChecksum } from '../../protocol/checksum.js';
import { type Snapshot, unseenRanges } from '../../protocol/snapshot.js';
import type { ResolvedView } from '../../view/client-views.js';
import { manyRows } from '../polls/observation.js';
import { unseenLiterals } from './logged-rows.js';
import { type SyncedTable, stateQueries, states } from './states.js';
import { everyRowOf } from './view-rows.js';

/** Checksums of each view's rows. */
export interface Checksums {
  /**
   * How the statement's ops change the checksums of a client that applies them; null if the client will have nothing
   * but the ops' rows.
   */
  readonly changes: readonly Checksum[] | null;
  /** The checksums of all rows; null if these were not read. */
  readonly whole: readonly Checksum[] | null;
}

/** For each view, a query with rows `(weight, hash)`; undefined if there are none. */
export interface ChecksumQueries {
  readonly changes?: readonly (string | undefined)[];
  readonly whole?: readonly string[] | undefined;
}

/** An SQL expression for the hash of a row. */
export function rowHash(key: string, value: string): string {
  const seed = `hashtextextended((${value}) collate "C", 0)`;
  return `(hashtextextended((${key}) collate "C", ${seed}) & 2147483647)`;
}

/** A query for checksums in which each row has the weight 1. */
export function allOf(rows: string): string {
  return `select 1 as weight, ${rowHash('tidemark_key', 'tidemark_value')} as hash from ${rows}`;
}

/** A query with one row, for `readChecksums`. */
export function checksumsQuery({ changes, whole }: ChecksumQueries): string {
  return `select json_build_object('changes', ${list(changes)}, 'whole', ${list(whole)})::text as line`;
}

function list(queries: ChecksumQueries['changes']): string {
  if (!queries) return 'null';
  return `json_build_array(${queries.map((query) => (query ? `(${cells(query)})` : `json_build_array()`)).join(', ')})`;
}

function cells(rows: string): string {
  return `select coalesce(json_agg(json_build_array(cell, count, sum::text, squares::text)), '[]') from (
    select (g << ${cellBits}) + (hash >> (g * ${cellBits}) & ${(1 << cellBits) - 1}) as cell,
      sum(weight) as count, sum(weight * hash) as sum, sum(weight * hash * hash) as squares
    from (${rows}) r cross join generate_series(0, ${groups - 1}) g
    group by cell
  ) c`;
}

/** Parses the line that a `checksumsQuery` yields. */
export function readChecksums(line: string): Checksums {
  const { changes, whole } = JSON.parse(line) as Record<keyof Checksums, readonly CellFields[][] | null>;
  return { changes: changes?.map(toChecksum) ?? null, whole: whole?.map(toChecksum) ?? null };
}

/** A view's rows that have one of the given hashes. */
export interface MatchingRows {
  /** Their keys, by hash. */
  readonly keys: ReadonlyMap<number, string>;
  /** The keys that several different rows share. */
  readonly repeatedKeys: readonly string[];
}

/**
 * Finds the rows, now or as of the snapshot, that have one of the hashes. The query materializes the rows. Otherwise
 * Postgres, while estimating how many match, would call the function that raises an error about a row without a key.
 *
 * @param tables the tables that the view reads
 */
export async function findRows(
  db: Database,
  { view, literals }: ResolvedView,
  { tables, base }: { readonly tables: readonly SyncedTable[]; readonly base: Snapshot },
  hashes: readonly number[],
): Promise<MatchingRows> {
  const ids = new Map(tables.map(({ oid, id }) => [oid, id]));
  const asOf = view.variants.atStates(view.occurrenceTables.map((oid) => states.asOf(ids.get(oid)!)));
  const rows = [view.now, asOf].map(
    (query, i) => `select ${i} as state, tidemark_key, tidemark_value from (${everyRowOf(view, query, literals)}) r`,
  );
  const queries = tables.flatMap((table) => stateQueries(table, unseenLiterals(base), manyRows));
  const matches = await db.query<{ hash: number; key: string; isRepeated: boolean }>({
    text: `with ${[...queries, `tidemark_rows as materialized (${rows.join(' union all ')})`].join(',\n')}
select hash::integer, key, bool_or(is_repeated) as "isRepeated" from (
  select tidemark_key as key, ${rowHash('tidemark_key', 'tidemark_value')} as hash,
    min(tidemark_value) over same <> max(tidemark_value) over same as is_repeated
  from tidemark_rows
  window same as (partition by state, tidemark_key collate "C")
) r
where hash = any ('{${hashes.join()}}')
group by hash, key`,
  });
  return {
    keys: new Map(matches.map(({ hash, key }) => [hash, key])),
    repeatedKeys: [...new Set(matches.flatMap(({ key, isRepeated }) => (isRepeated ? [key] : [])))],
  };
}

/** Finds the first transactions, at most `limit`, that have changed the tables since the snapshot. */
export async function transactionsSince(
  db: Database,
  tables: readonly SyncedTable[],
  base: Snapshot,
  limit: number,
): Promise<string[]> {
  const { lows, highs } = unseenRanges(base);
  const rows = await db.query<{ xid: string }>({
    text: `select distinct xid from unnest($2::xid8[], $3::xid8[]) unseen (low, high)
join tidemark.change on table_id = any ($1::integer[]) and xid between low and high
order by xid limit $4`,
    values: [tables.map(({ id }) => id), lows, highs, limit],
  });
  return rows.map(({ xid }) => xid);
}
