/** Finds deltas that would take longer than a reset. */
import type { Database } from '../db/database.js';
import { countedRows, type Header } from '../store/header.js';
import { areAtMost, countChangedKeys } from '../store/sizes.js';
import { Coalescer } from './coalesce.js';
import { sizeWorthReset } from './plan.js';
import type { Reader } from './shared-reads.js';

interface SizeReader extends Reader {
  readonly changed: Header['changed'];
}

const patienceMs = 1000;
/** How many log rows are read at first, and if these are too few to tell. Reading them takes a hundredth of a delta. */
const readLogRows = [50_000, 1_000_000];

/** Readers that ask at once, with the same key, are told the same. */
export class ResetsBySize {
  readonly #db: Database;
  readonly #answers = new Coalescer(async (readers: readonly SizeReader[]) => {
    const isCheaper = await this.#isCheaper(readers[0]!);
    return readers.map(() => isCheaper);
  }, patienceMs);

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Whether a reset is cheaper than a delta, given the tables that have changed. Where few rows have, no statement is
   * run.
   */
  async isCheaper(reader: Reader, changed: Header['changed']): Promise<boolean> {
    if (!changed.some(([, rows]) => rows >= countedRows)) return false;
    return this.#answers.ask(reader.key, { ...reader, changed });
  }

  async #isCheaper({ installation, views, base, changed }: SizeReader): Promise<boolean> {
    const ids = new Set(changed.map(([id]) => id));
    const tables = installation.tables.filter(({ id }) => ids.has(id));
    for (const logRows of readLogRows) {
      const { count, isWhole } = await countChangedKeys(this.#db, tables, base, logRows);
      const size = sizeWorthReset(count);
      if (size && (await areAtMost(this.#db, views, size))) return true;
      if (isWhole) break;
    }
    return false;
  }
}
