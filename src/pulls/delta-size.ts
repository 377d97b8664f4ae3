/** Finds out how long a delta will take. */
import type { Database } from '../db/database.js';
import type { Header } from '../store/header.js';
import { countChangedKeys, ViewSizes } from '../store/sizes.js';
import { Coalescer } from '../window/coalesce.js';
import { isShort, keysWorthReset, sizeWorthReset } from './plan.js';
import type { DeltaReader, Reader } from './reader.js';

/** `too long`: a reset is cheaper. */
export type DeltaSize = 'short' | 'long' | 'too long';

const patienceMs = 1000;
/**
 * How many log rows are read at most, and if these are too few to tell. With 12,000 it can turn out that a delta is not
 * short.
 */
const readLogRows = [12_000, 40_000, 160_000, 640_000];
/** Log rows that have not been read are assumed to be of as many keys again as those that have. */
const withUnread = 2;

/** Readers that ask at once, with the same key, are told the same. */
export class DeltaSizes {
  readonly #db: Database;
  readonly #answers = new Coalescer(
    async (readers: readonly DeltaReader[], signal) => {
      const size = await this.#sizeFor(readers[0]!, signal);
      return readers.map(() => size);
    },
    patienceMs,
    ({ reader }) => reader.signal,
  );

  constructor(db: Database) {
    this.#db = db;
  }

  /** The size of a delta, given the tables that have changed. If few rows have, no statement is run. */
  async of(reader: Reader, changed: Header['changed']): Promise<DeltaSize> {
    // No key has changed without a log row.
    if (isShort(changed.reduce((sum, [, rows]) => sum + rows, 0))) return 'short';
    return this.#answers.ask(reader.key, { reader, changed });
  }

  async #sizeFor(
    { reader: { installation, views, base }, changed }: DeltaReader,
    signal: AbortSignal | undefined,
  ): Promise<DeltaSize> {
    const query: Database['query'] = (statement) => this.#db.query({ ...statement, signal });
    const ids = new Set(changed.map(([id]) => id));
    const tables = installation.tables.filter(({ id }) => ids.has(id));
    const isKeyed = views.some(({ view }) => view.strategy === 'keyed');
    const sizes = new ViewSizes(query, views);
    for (const [i, logRows] of readLogRows.entries()) {
      const size = await sizes.within(sizeWorthReset(withUnread * logRows, isKeyed));
      const enough = size ? keysWorthReset(size, isKeyed) : Number.POSITIVE_INFINITY;
      // Clients that see little are told after a glance at the log. What has been read already was not enough.
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
