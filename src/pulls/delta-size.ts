/** Finds out how long a delta will take. */
import type { Database } from '../db/database.js';
import { type Header, isSmall } from '../store/header.js';
import { areAtMost, countChangedKeys } from '../store/sizes.js';
import { Coalescer } from '../window/coalesce.js';
import { sizeWorthReset } from './plan.js';
import type { DeltaReader, Reader } from './reader.js';

/** `too long`: a reset is cheaper. */
export type DeltaSize = 'short' | 'long' | 'too long';

const patienceMs = 1000;
/**
 * How many log rows are read at first, and if these are too few to tell. Reading them takes a hundredth of a delta. The
 * first are as many as can tell, if each is of another key.
 */
const readLogRows = [12_000, 100_000, 1_000_000];

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
    if (isSmall(changed)) return 'short';
    return this.#answers.ask(reader.key, { reader, changed });
  }

  async #sizeFor(
    { reader: { installation, views, base }, changed }: DeltaReader,
    signal: AbortSignal | undefined,
  ): Promise<DeltaSize> {
    const query: Database['query'] = (statement) => this.#db.query({ ...statement, signal });
    const ids = new Set(changed.map(([id]) => id));
    const tables = installation.tables.filter(({ id }) => ids.has(id));
    let size: DeltaSize = 'short';
    for (const logRows of readLogRows) {
      const { count, isWhole } = await countChangedKeys(query, tables, base, logRows);
      const limit = sizeWorthReset(count);
      if (limit) size = 'long';
      if (limit && (await areAtMost(query, views, limit))) return 'too long';
      if (isWhole) break;
    }
    return size;
  }
}
