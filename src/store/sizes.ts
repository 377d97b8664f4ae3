/** The number of changed keys, and the size of views. Both decide whether a delta or a reset is cheaper. */
import type { Database } from '../db/database.js';
import { type Snapshot, unseenRanges } from '../protocol/snapshot.js';
import type { ResolvedView } from '../view/client-views.js';
import { render } from '../view/parse/template.js';
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
  /** The cost of reading all rows, as Postgres estimates it, in its units. */
  readonly cost: number;
  readonly rows: number;
}

/** The current size of views, determined only as far as requested. */
export class ViewSizes {
  readonly #query: Database['query'];
  readonly #rowsSql: string;
  #cost: number | undefined;
  /** The rows counted so far. There are more if not `isWhole`. */
  #counted = { rows: 0, isWhole: false };

  constructor(query: Database['query'], views: readonly ResolvedView[]) {
    this.#query = query;
    this.#rowsSql = views
      .map(({ view, literals }) => `select from (\n${render(view.whole, literals)}\n) v`)
      .join('\nunion all\n');
  }

  /** Returns the size if it is within a limit. Counts rows only if reading them costs no more than the limit's cost. */
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
