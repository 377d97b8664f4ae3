/** Estimates how long a delta will take. */

import { Coalescer } from '../../change-log/coalesce.js';
import type { Database } from '../../db/database.js';
import type { RowLimit } from '../../store/patches/patch-sql.js';
import type { ObservedState } from '../../store/polls/observation.js';
import { countChangedKeys, estimateViewSize, type ViewSize } from '../../store/sizes.js';
import { abortSignalOf, type DeltaReader, type Reader, readerKey } from './reader.js';

/** With a limit: a reset is cheaper, if the views have no more rows than that. */
export type DeltaSize = 'short' | 'long' | RowLimit;

const maxWaitMs = 1000;
/**
 * The maximum number of log rows to read in each attempt, as long as these are too few to decide. 12,000 rows can show
 * that a delta is not short.
 */
const readLogRows = [12_000, 40_000, 160_000, 640_000];
/** Unread log rows are assumed to belong to as many other keys as the log rows that were read. */
const withUnread = 2;
/** With this many times as many changed keys as necessary, a reset is cheaper even if Postgres's estimate is too low. */
const estimateMargin = 2;

/** A question for the size of a delta. */
interface DeltaQuestion extends DeltaReader {
  /** The least number of rows that the views are assumed to have. */
  readonly minRows: number;
}

/** Estimates the sizes of deltas. Concurrent readers with the same key share one estimate. */
export class DeltaSizes {
  readonly #db: Database;
  readonly #answers = new Coalescer(
    async (questions: readonly DeltaQuestion[], signal) => {
      const size = await this.#sizeFor(questions[0]!, signal);
      return questions.map(() => size);
    },
    maxWaitMs,
    ({ reader }) => abortSignalOf(reader),
  );

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Returns the size of a delta, given the changed tables. Runs no statement if there are few log rows.
   * @param minRows the least number of rows that the views are assumed to have, after a reset found too many
   */
  async of(reader: Reader, changed: ObservedState['changeCounts'], minRows: number): Promise<DeltaSize> {
    // Every changed key has at least one log row.
    if (isShort(changed.reduce((sum, [, rows]) => sum + rows, 0))) return 'short';
    return this.#answers.ask(`${minRows} ${readerKey(reader)}`, { reader, changed, minRows });
  }

  async #sizeFor(
    { reader: { schema, views, base }, changed, minRows }: DeltaQuestion,
    signal: AbortSignal | undefined,
  ): Promise<DeltaSize> {
    const query: Database['query'] = (statement) => this.#db.query({ ...statement, signal });
    const ids = new Set(changed.map(([id]) => id));
    const tables = schema.tables.filter(({ id }) => ids.has(id));
    const isKeyed = views.some(({ view }) => view.strategy === 'keyed');
    const { cost, rows } = await estimateViewSize(query, views);
    const enough = keysWorthReset({ cost, rows: Math.max(rows, minRows) }, isKeyed);
    const plenty = estimateMargin * enough;
    const countsExactly = views.every(({ view }) => !view.choosesByKey && !view.keysMayRepeat);
    const countsFirst = countsExactly && cost < costPerKeptRow * rows;
    const resetFor = (keys: number) => ({ rows: sizeWorthReset(keys, isKeyed).rows, countsFirst });
    for (const [i, logRows] of readLogRows.entries()) {
      // If the views are small, a short read of the log may suffice, unless the previous attempt has read as much.
      const isGlance = plenty > (readLogRows[i - 1] ?? 0) && plenty < logRows;
      if (isGlance && (await countChangedKeys(query, tables, base, plenty)).count === plenty) return resetFor(plenty);
      const { count, isWhole } = await countChangedKeys(query, tables, base, logRows);
      if (isWhole && isShort(count)) return 'short';
      const keys = isWhole ? count : withUnread * count;
      if (enough <= keys) return resetFor(keys);
      if (isWhole) return 'long';
    }
    return 'long';
  }
}

/**
 * A delta over fewer changed keys than this is short. It takes less than a second, and its patch fits into the buffers
 * between server and client. It is always cheaper than a reset, unless the keys have changed very often.
 */
const minLongDeltaKeys = 10_000;
/**
 * A delta takes about twelve times as long for a changed key as a reset for a row. But after a reset, the network and
 * the client must also process all rows, not only those that have changed.
 */
const rowsPerKey = 5;
/** The cost of a delta for each changed key, in the units of Postgres's estimates. */
const costPerKey = 8;
/** The cost of keeping a row until all rows have been counted, in the same units. */
const costPerKeptRow = 0.1;

/** True if a delta over this many changed keys is short. */
export function isShort(changedKeys: number): boolean {
  return changedKeys < minLongDeltaKeys;
}

/**
 * With this many changed keys, a partition takes as long as a row of an incremental view. With four times as many, each
 * partition takes twice as long; see `rowsOfSides`.
 */
const evenKeys = 625;

/**
 * Returns the maximum size of views for which a reset is cheaper than a long delta over this many changed keys.
 * @param isKeyed true if the delta evaluates partitions of one of the views
 */
export function sizeWorthReset(changedKeys: number, isKeyed: boolean): ViewSize {
  const keys = Math.round(isKeyed ? changedKeys * Math.max(1, Math.sqrt(changedKeys / evenKeys)) : changedKeys);
  return { rows: rowsPerKey * keys, cost: costPerKey * keys };
}

/** The inverse of `sizeWorthReset`: returns from which number of changed keys on a reset is cheaper than a delta. */
export function keysWorthReset({ rows, cost }: ViewSize, isKeyed: boolean): number {
  const keys = Math.max(1, rows / rowsPerKey, cost / costPerKey);
  return Math.ceil(isKeyed && keys > evenKeys ? Math.cbrt(keys * keys * evenKeys) : keys);
}
