/** Records the row format of a table for each schema hash that servers see. */
import { type Database, queryOf, readCommitted } from '../../db/database.js';
import type { SyncedTable } from '../../store/patches/states.js';
import {
  findUnrecorded,
  lockRowFormats,
  type RelationFormats,
  readRelationFormats,
  recordRowFormats,
} from '../../store/row-formats/row-format-table.js';
import { readHashedTables } from '../hashed-tables.js';
import { cookieSchemaHash } from '../views/digests.js';
import type { ReadPoint } from './read-point.js';

/** The longest that a recording waits for a lock. Pulls wait for the recording. */
const lockTimeoutMs = 1000;

/** A table whose row format must be recorded. */
type UnrecordedTable = SyncedTable & { readonly before: string | null };

/** Records the row formats that one server sees. */
export class RowFormatLog {
  readonly #db: Database;
  /** By table ID: the recorded schema hash, and the last read point at which the table had it. */
  readonly #lastSeen = new Map<number, { readonly schemaHash: string; readonly readPoint: ReadPoint }>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Records the row formats of tables whose schema hash has changed. If this fails, the next call tries again. Until
   * then, clients that have rows in the previous format are reset.
   * @param readPoint taken before the tables were read; null if nothing can be recorded
   */
  async recordChanges(tables: readonly SyncedTable[], readPoint: ReadPoint | null): Promise<void> {
    if (!readPoint) return;
    const changedTables = tables.filter(({ id, schemaHash }) => this.#lastSeen.get(id)?.schemaHash !== schemaHash);
    const isRecorded = changedTables.length === 0 || (await this.#record(changedTables, readPoint.serverStart));
    for (const { id, schemaHash } of tables) {
      if (isRecorded || this.#lastSeen.get(id)?.schemaHash === schemaHash) {
        this.#lastSeen.set(id, { schemaHash, readPoint });
      }
    }
  }

  async #record(tables: readonly SyncedTable[], serverStart: string): Promise<boolean> {
    const changedTables = tables.map((table): UnrecordedTable => {
      const lastReadPoint = this.#lastSeen.get(table.id)?.readPoint;
      return { ...table, before: lastReadPoint?.serverStart === serverStart ? lastReadPoint.snapshot : null };
    });
    try {
      return await recordTables(this.#db, changedTables, serverStart);
    } catch {
      // Recordings only make pulls faster. Pulls must not fail because a table is locked or was dropped.
      return false;
    }
  }
}

function withTypes(relations: RelationFormats, { typeHashes }: Pick<SyncedTable, 'typeHashes'>): RelationFormats {
  return relations.map((relation) => ({
    ...relation,
    columns: relation.columns.map((column) => ({ ...column, typeHash: typeHashes[column.column] ?? '' })),
  }));
}

/** Returns false if a table has changed again, so that its row format was not recorded. */
async function recordTables(db: Database, tables: readonly UnrecordedTable[], serverStart: string): Promise<boolean> {
  const missing = await findUnrecorded(
    db,
    tables.map((table) => ({ ...table, schemaHash: cookieSchemaHash(table) })),
  );
  if (missing.length === 0) return true;
  return await db.transact(async (client) => {
    const query = queryOf(client);
    await client.query(readCommitted);
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`);
    await query(lockRowFormats(missing));
    const current = await readHashedTables(
      { query },
      tables.filter(({ id }) => missing.some((one) => one.id === id)),
    );
    const relations = await readRelationFormats(
      { query },
      missing.map(({ oid }) => oid),
    );
    const recordable = missing.filter(({ oid, schemaHash }) => {
      const now = current.get(oid);
      return now !== undefined && cookieSchemaHash(now) === schemaHash && relations.has(oid);
    });
    await query(
      recordRowFormats(
        recordable.map((table) => ({
          ...table,
          relations: withTypes(relations.get(table.oid)!, current.get(table.oid)!),
        })),
        serverStart,
      ),
    );
    return recordable.length === missing.length;
  });
}
