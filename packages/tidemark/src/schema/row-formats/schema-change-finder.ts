/** Finds how the schema of tables has changed since cookies were issued. */
import { BoundedMap } from '../../bounded-map.js';
import type { Database } from '../../db/database.js';
import type { SyncedTable } from '../../store/patches/states.js';
import { findEmptiedPartitions } from '../../store/row-formats/empty-partitions.js';
import { areFewRows, findRowFormats } from '../../store/row-formats/row-format-table.js';
import {
  removedPartitions,
  type SchemaChange,
  type SchemaChanges,
  schemaChangeOf,
} from '../../store/row-formats/schema-change.js';
import { cookieSchemaHash } from '../views/digests.js';

/** The number of schema changes to cache. */
const maxSchemaChanges = 1000;

/** Finds the schema changes of tables, and caches them. Each schema state has its own instance. */
export class SchemaChangeFinder {
  readonly #db: Database;
  readonly #schemaChanges = new BoundedMap<string, Promise<SchemaChange | undefined>>(maxSchemaChanges);

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Returns how the schema of tables has changed since a cookie was issued.
   * @param tables the tables whose schema hash has changed
   * @param schemaHashes the schema hashes in the cookie
   */
  async since(tables: readonly SyncedTable[], schemaHashes: string): Promise<SchemaChanges> {
    const before = new Map(
      schemaHashes.split('.').map((schemaHash) => schemaHash.split(':') as [id: string, schemaHash: string]),
    );
    const entries = tables.map(async (table) => {
      const schemaHash = before.get(String(table.id));
      const schemaChange = schemaHash === undefined ? undefined : await this.#of(table, schemaHash);
      return [table.id, schemaChange ?? (table.kind === 'p' ? 'lost' : 'unknown')] as const;
    });
    return new Map(await Promise.all(entries));
  }

  /**
   * Returns how a table's schema has changed; undefined if rows that were logged since then cannot be read.
   * @param schemaHash the previous one, as cookies contain it
   */
  #of(table: SyncedTable, schemaHash: string): Promise<SchemaChange | undefined> {
    const key = JSON.stringify([table.id, schemaHash, table.schemaHash]);
    const cached = this.#schemaChanges.get(key);
    if (cached) return cached;
    const result = this.#find(table, schemaHash);
    this.#schemaChanges.set(key, result);
    // A missing record may appear soon: a server has yet to write it, or a standby to replay it.
    const forget = () => void this.#schemaChanges.delete(key);
    result.then((schemaChange) => schemaChange ?? forget(), forget);
    return result;
  }

  async #find(table: SyncedTable, schemaHash: string): Promise<SchemaChange | undefined> {
    const rowFormats = await findRowFormats(this.#db, table.id);
    const first = rowFormats.findLastIndex((rowFormat) => rowFormat.schemaHash === schemaHash);
    const last = rowFormats.findLastIndex((rowFormat) => rowFormat.schemaHash === cookieSchemaHash(table));
    if (first < 0 || last <= first) return undefined;
    const formatsSince = rowFormats.slice(first, last + 1);
    const schemaChange = schemaChangeOf(
      formatsSince,
      await findEmptiedPartitions(this.#db, table.id, removedPartitions(formatsSince)),
    );
    if (!schemaChange || schemaChange.attachedPartitions.length === 0) return schemaChange;
    return (await areFewRows(this.#db, schemaChange.attachedPartitions)) ? schemaChange : undefined;
  }
}
