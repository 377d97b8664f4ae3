/** The number of changed keys, and an estimate of the size of views. Both decide whether a delta or a reset is cheaper. */
import type { Database } from '../db/database.js';
import { type Snapshot, unseenRanges } from '../protocol/snapshot.js';
import type { ResolvedView } from '../view/client-views.js';
import { rowsWithoutColumns } from './patches/full-patch.js';
import type { SyncedTable } from './patches/states.js';

export interface ChangedKeys {
  readonly count: number;
  /** False if there are more log rows than have been read. */
  readonly isWhole: boolean;
}

/** Counts the keys that have changed in the tables since the snapshot, in at most `logRows` log rows. */
export async function countChangedKeys(
  query: Database['query'],
  tables: readonly SyncedTable[],
  base: Snapshot,
  logRows: number,
): Promise<ChangedKeys> {
  const { lows, highs } = unseenRanges(base);
  const [row] = await query<{ keys: number; changes: number }>({
    text: 'select keys, changes from tidemark.changed_keys($1, $2, $3, $4)',
    values: [tables.map(({ id }) => id), lows, highs, logRows],
  });
  return { count: row!.keys, isWhole: row!.changes < logRows };
}

/** A size of all views together, or a limit for it. */
export interface ViewSize {
  /** The cost of counting all rows, as Postgres estimates it, in its units. */
  readonly cost: number;
  readonly rows: number;
}

/** Returns the current size of views, as Postgres estimates it. */
export async function estimateViewSize(query: Database['query'], views: readonly ResolvedView[]): Promise<ViewSize> {
  const rows = views.map(rowsWithoutColumns);
  const [explained] = await query<{ 'QUERY PLAN': [{ Plan: { 'Total Cost': number; 'Plan Rows': number } }] }>({
    text: `explain (format json) ${rows.join('\nunion all\n')}`,
  });
  const { Plan: plan } = explained!['QUERY PLAN'][0];
  return { cost: plan['Total Cost'], rows: plan['Plan Rows'] };
}
