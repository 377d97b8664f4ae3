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

/** The size of views as they are now, found out as far as somebody asks. */
export class ViewSizes {
  readonly #query: Database['query'];
  readonly #rowsSql: string;
  #cost: number | undefined;
  /** The rows counted so far. There are more if not `isWhole`. */
  #counted = { rows: 0, isWhole: false };

  constructor(query: Database['query'], views: readonly BoundView[]) {
    this.#query = query;
    this.#rowsSql = views
      .map(({ view, literals }) => `select from (\n${render(view.whole, literals)}\n) v`)
      .join('\nunion all\n');
  }

  /** The size, if it is within a limit. Rows are counted only if reading them takes no more than the limit's cost. */
  async within(limit: ViewSize): Promise<ViewSize | undefined> {
    this.#cost ??= await this.#estimateCost();
    if (this.#cost > limit.cost) return undefined;
    if (!this.#counted.isWhole && this.#counted.rows <= limit.rows) this.#counted = await this.#countRows(limit.rows);
    const { rows } = this.#counted;
    return rows <= limit.rows ? { rows, cost: this.#cost } : undefined;
  }

  async #estimateCost(): Promise<number> {
    const [explained] = await this.#query<{ 'QUERY PLAN': [{ Plan: { 'Total Cost': number } }] }>({
      text: `explain (format json) ${this.#rowsSql}`,
    });
    return explained!['QUERY PLAN'][0].Plan['Total Cost'];
  }

  async #countRows(limit: number): Promise<{ rows: number; isWhole: boolean }> {
    const [counted] = await this.#query<{ rows: number }>({
      text: `select count(*)::integer as rows from (${this.#rowsSql} limit ${limit + 1}) r`,
    });
    return { rows: counted!.rows, isWhole: counted!.rows <= limit };
  }
}
