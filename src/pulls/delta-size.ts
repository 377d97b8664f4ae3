/** Estimates how long a delta will take. */

import { Coalescer } from '../change-log/coalesce.js';
import type { Database } from '../db/database.js';
import type { ObservedState } from '../store/observation.js';
import { countChangedKeys, ViewSizes } from '../store/sizes.js';
import { isShort, keysWorthReset, sizeWorthReset } from './plan.js';
import type { DeltaReader, Reader } from './reader.js';

/** `too long`: a reset is cheaper. */
export type DeltaSize = 'short' | 'long' | 'too long';

const maxWaitMs = 1000;
/**
 * The maximum number of log rows to read in each attempt, as long as these are too few to decide. 12,000 rows can show
 * that a delta is not short.
 */
const readLogRows = [12_000, 40_000, 160_000, 640_000];
/** Unread log rows are assumed to belong to as many other keys as the log rows that were read. */
const withUnread = 2;

/** Estimates the sizes of deltas. Concurrent readers with the same key share one estimate. */
export class DeltaSizes {
  readonly #db: Database;
  readonly #answers = new Coalescer(
    async (readers: readonly DeltaReader[], signal) => {
      const size = await this.#sizeFor(readers[0]!, signal);
      return readers.map(() => size);
    },
    maxWaitMs,
    ({ reader }) => reader.signal,
  );

  constructor(db: Database) {
    this.#db = db;
  }

  /** Returns the size of a delta, given the changed tables. Runs no statement if there are few log rows. */
  async of(reader: Reader, changed: ObservedState['changeCounts']): Promise<DeltaSize> {
    // Every changed key has at least one log row.
    if (isShort(changed.reduce((sum, [, rows]) => sum + rows, 0))) return 'short';
    return this.#answers.ask(reader.key, { reader, changed });
  }

  async #sizeFor(
    { reader: { schema, views, base }, changed }: DeltaReader,
    signal: AbortSignal | undefined,
  ): Promise<DeltaSize> {
    const query: Database['query'] = (statement) => this.#db.query({ ...statement, signal });
    const ids = new Set(changed.map(([id]) => id));
    const tables = schema.tables.filter(({ id }) => ids.has(id));
    const isKeyed = views.some(({ view }) => view.strategy === 'keyed');
    const sizes = new ViewSizes(query, views);
    for (const [i, logRows] of readLogRows.entries()) {
      const size = await sizes.within(sizeWorthReset(withUnread * logRows, isKeyed));
      const enough = size ? keysWorthReset(size, isKeyed) : Number.POSITIVE_INFINITY;
      // If the views are small, a short read of the log may suffice, unless the previous attempt has read as much.
      const isGlance = enough > (readLogRows[i - 1] ?? 0) && enough < logRows;
      if (isGlance && (await countChangedKeys(query, tables, base, enough)).count === enough) return 'too long';
      const { count, isWhole } = await countChangedKeys(query, tables, base, logRows);
      if (isWhole && isShort(count)) return 'short';
      if (enough <= (isWhole ? count : withUnread * count)) return 'too long';
      if (isWhole) return 'long';
    }
    return 'long';
  }
}
