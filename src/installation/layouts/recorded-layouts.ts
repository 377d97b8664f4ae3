/** Records the layout of each shape that a table has had, as servers see it. */
import { type Database, queryOf, readCommitted } from '../../db/database.js';
import {
  holdLayouts,
  type Members,
  readMembers,
  recordLayouts,
  unrecorded,
} from '../../store/layouts/layouts-table.js';
import type { SyncedTable } from '../../store/patches/states.js';
import { shapeInCookies } from '../digests.js';
import { readShaped } from '../shaped-tables.js';
import type { Moment } from './moments.js';

/** How long a recording waits for a lock: pulls wait for it. */
const patienceMs = 1000;

/** A table whose layout is to be recorded. */
type Altered = SyncedTable & { readonly before: string | null };

/** What one server has seen of its tables. */
export class RecordedLayouts {
  readonly #db: Database;
  /** By the tables' IDs: the shape that is recorded, and when it was last seen. */
  readonly #seen = new Map<number, { readonly shape: string; readonly moment: Moment }>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Records the layouts of tables that have got another shape. If this fails, it is done the next time; until then, clients
   * who have rows in the layout of before are reset.
   * @param moment before the tables were read; null if nothing can be recorded
   */
  async follow(tables: readonly SyncedTable[], moment: Moment | null): Promise<void> {
    if (!moment) return;
    const altered = tables.filter(({ id, shape }) => this.#seen.get(id)?.shape !== shape);
    const isRecorded = altered.length === 0 || (await this.#record(altered, moment.started));
    for (const { id, shape } of tables) {
      if (isRecorded || this.#seen.get(id)?.shape === shape) this.#seen.set(id, { shape, moment });
    }
  }

  async #record(tables: readonly SyncedTable[], started: string): Promise<boolean> {
    const altered = tables.map((table): Altered => {
      const seen = this.#seen.get(table.id)?.moment;
      return { ...table, before: seen?.started === started ? seen.snapshot : null };
    });
    try {
      return await recordTables(this.#db, altered, started);
    } catch {
      // It only makes pulls faster. They must not fail because a table is locked, or dropped in the meantime.
      return false;
    }
  }
}

function withTypes(members: Members, { typeShapes }: Pick<SyncedTable, 'typeShapes'>): Members {
  return members.map((member) => ({
    ...member,
    columns: member.columns.map((column) => ({ ...column, typeShape: typeShapes[column.column] ?? '' })),
  }));
}

/** Returns whether all tables have been found as they were. */
async function recordTables(db: Database, tables: readonly Altered[], started: string): Promise<boolean> {
  const missing = await unrecorded(
    db,
    tables.map((table) => ({ ...table, shape: shapeInCookies(table) })),
  );
  if (missing.length === 0) return true;
  return await db.transact(async (client) => {
    const query = queryOf(client);
    await client.query(readCommitted);
    await client.query(`set local lock_timeout = ${patienceMs}`);
    await query(holdLayouts(missing));
    const found = await readShaped(
      { query },
      tables.filter(({ id }) => missing.some((one) => one.id === id)),
    );
    const members = await readMembers(
      { query },
      missing.map(({ oid }) => oid),
    );
    const left = missing.filter(({ oid, shape }) => {
      const now = found.get(oid);
      return now !== undefined && shapeInCookies(now) === shape && members.has(oid);
    });
    await query(
      recordLayouts(
        left.map((table) => ({ ...table, members: withTypes(members.get(table.oid)!, found.get(table.oid)!) })),
        started,
      ),
    );
    return left.length === missing.length;
  });
}
