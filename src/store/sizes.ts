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

/** How many times as many rows there may be as Postgres expects. */
const underestimate = 10;

/** The size of views as they are now, found out as far as somebody asks. */
export class ViewSizes {
  readonly #query: Database['query'];
  readonly #rowsSql: string;
  #estimated: ViewSize | undefined;
  /** The rows counted so far. There are more if not `isWhole`. */
  #counted = { rows: 0, isWhole: false };

  constructor(query: Database['query'], views: readonly BoundView[]) {
    this.#query = query;
    this.#rowsSql = views
      .map(({ view, literals }) => `select from (\n${render(view.whole, literals)}\n) v`)
      .join('\nunion all\n');
  }

  /** The largest size that they are likely to have, as Postgres estimates it. */
  async largest(): Promise<ViewSize> {
    const { cost, rows } = await this.#estimate();
    return { cost, rows: underestimate * rows };
  }

  /** Whether they are at most so large. Rows are counted only if reading them takes no more than the limit's cost. */
  async areAtMost(limit: ViewSize): Promise<boolean> {
    if ((await this.#estimate()).cost > limit.cost) return false;
    if (!this.#counted.isWhole && this.#counted.rows <= limit.rows) this.#counted = await this.#countRows(limit.rows);
    return this.#counted.rows <= limit.rows;
  }

  async #estimate(): Promise<ViewSize> {
    if (this.#estimated) return this.#estimated;
    const [explained] = await this.#query<{ 'QUERY PLAN': [{ Plan: { 'Total Cost': number; 'Plan Rows': number } }] }>({
      text: `explain (format json) ${this.#rowsSql}`,
    });
    const { Plan } = explained!['QUERY PLAN'][0];
    this.#estimated = { cost: Plan['Total Cost'], rows: Plan['Plan Rows'] };
    return this.#estimated;
  }

  async #countRows(limit: number): Promise<{ rows: number; isWhole: boolean }> {
    const [counted] = await this.#query<{ rows: number }>({
      text: `select count(*)::integer as rows from (${this.#rowsSql} limit ${limit + 1}) r`,
    });
    return { rows: counted!.rows, isWhole: counted!.rows <= limit };
  }
}
