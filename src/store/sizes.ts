/** How much has changed, and how much there is: what tells whether a delta or a reset is cheaper. */
import type { Database } from '../db/database.js';
import { type Snapshot, unseenRanges } from '../protocol/snapshot.js';
import type { BoundView } from '../view/client-views.js';
import { render } from '../view/parse/template.js';
import type { SyncedTable } from './patches/states.js';

export interface ChangedKeys {
  readonly count: number;
  /** There are no more log rows than have been read. */
  readonly isWhole: boolean;
}

/** Counts the keys that have changed in the tables since the snapshot, in so many log rows. */
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

/** A limit for all views together. */
export interface ViewSize {
  /** What it takes to read all rows, as Postgres estimates it, in its units. */
  readonly cost: number;
  readonly rows: number;
}

/** Whether the views, as they are now, are at most so large. Rows are counted only if that takes no more than the cost. */
export async function areAtMost(
  query: Database['query'],
  views: readonly BoundView[],
  limit: ViewSize,
): Promise<boolean> {
  const rows = views
    .map(({ view, literals }) => `select from (\n${render(view.whole, literals)}\n) v`)
    .join('\nunion all\n');
  const [explained] = await query<{ 'QUERY PLAN': [{ Plan: { 'Total Cost': number } }] }>({
    text: `explain (format json) ${rows}`,
  });
  if (explained!['QUERY PLAN'][0].Plan['Total Cost'] > limit.cost) return false;
  const [counted] = await query<{ rows: number }>({
    text: `select count(*)::integer as rows from (${rows} limit ${limit.rows + 1}) r`,
  });
  return counted!.rows <= limit.rows;
}
