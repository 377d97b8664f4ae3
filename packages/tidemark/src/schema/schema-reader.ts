import { isDeepStrictEqual } from 'node:util';
import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { RowFormatLog } from './row-formats/row-format-log.js';
import { readSchemaWithPoint, type SchemaState } from './schema-state.js';

/** The maximum age of a schema state. A change to the cluster or to tables can reset clients this soon. */
const maxAgeMs = 1000;

/** The timeout of each statement, so that a connection that died silently does not block the next read. */
const timeoutMs = 5000;

/** A schema state, and the values derived from it. */
export interface SchemaEntry<Derived> {
  readonly schema: SchemaState;
  readonly derived: Derived;
}

/** One read of the schema state. */
export interface SchemaReading<Derived> {
  /** At this time of `performance.now` or later, another read would still have found the same. */
  readonly at: number;
  readonly entry: Promise<SchemaEntry<Derived>>;
}

/** Reads the schema state again whenever it is needed and more than a second old. */
export class SchemaReader<Derived> {
  readonly #db: Database;
  readonly #rowFormatLog: RowFormatLog;
  readonly #createDerived: () => Derived;
  /** By OID: every table that any view has read. */
  readonly #tables = new Map<number, Table>();
  #reading: { at: number; readonly entry: Promise<SchemaEntry<Derived>> } | undefined;
  #entry: SchemaEntry<Derived> | undefined;

  /** @param createDerived returns an empty container for the values derived from a new schema state */
  constructor(db: Database, createDerived: () => Derived) {
    this.#db = { ...db, query: (statement) => db.query({ timeoutMs, ...statement }) };
    this.#rowFormatLog = new RowFormatLog(this.#db);
    this.#createDerived = createDerived;
  }

  /** Returns the newest read, which may still be running. */
  current(): SchemaReading<Derived> {
    if (!this.#reading || performance.now() - this.#reading.at > maxAgeMs) {
      const reading = { at: performance.now(), entry: this.#readAgain() };
      this.#reading = reading;
      // A SetupError may be cached. Any other error may be over a moment later, so the next call reads again.
      reading.entry.catch((error: unknown) => {
        if (!(error instanceof SetupError)) this.forget(reading);
      });
    }
    return this.#reading;
  }

  /** Makes the next call of `current` read again, unless there is a newer read already. */
  forget(reading: SchemaReading<Derived>): void {
    if (this.#reading === reading) this.#reading = undefined;
  }

  /**
   * Declares that nothing was committed between two times of `performance.now`. What was read since the first then
   * counts as read at the second.
   */
  remained(since: number, until: number): void {
    if (this.#reading && this.#reading.at >= since) this.#reading.at = Math.max(this.#reading.at, until);
  }

  /** Adds tables to read. If another pull has added them already, the read that it started serves this pull too. */
  track(tables: readonly Table[]): void {
    const added = tables.filter((table) => !this.#tables.has(table.oid));
    for (const table of added) this.#tables.set(table.oid, table);
    if (added.length > 0) this.#reading = undefined;
  }

  /**
   * Usually nothing has changed, and the derived values stay valid. The new copy is then discarded: if it lived until
   * the next read, it would reach the old generation, which is the most expensive to collect.
   */
  async #readAgain(): Promise<SchemaEntry<Derived>> {
    const { schemaState: freshSchema, readPoint } = await readSchemaWithPoint(this.#db, [...this.#tables.values()]);
    const last = this.#entry;
    const isUnchanged = last !== undefined && isDeepStrictEqual(last.schema, freshSchema);
    const before = last?.schema.secrets;
    // The cookie cache compares secrets by identity, so they stay the same object even if the tables have changed.
    const secrets = isDeepStrictEqual(before, freshSchema.secrets) ? before! : freshSchema.secrets;
    const schema = isUnchanged ? { ...last.schema } : { ...freshSchema, secrets };
    await this.#rowFormatLog.recordChanges(schema.tables, readPoint);
    this.#entry = { schema, derived: isUnchanged ? last.derived : this.#createDerived() };
    return this.#entry;
  }
}
