/** What has been committed since a snapshot, in one cheap query. */
import type { Database } from '../db/database.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { mostRows, readReport } from './header.js';
import { look } from './look.js';

/** What has been committed to one table. */
export interface TailChange {
  /** The table's ID in the change log. */
  readonly table: number;
  /** The number of its log rows, at most `mostRows`. */
  readonly rows: number;
  /** The one transaction that wrote them; null if there are several, or if `mostRows` is reached. */
  readonly xid: string | null;
  readonly truncated: boolean;
}

/** What has been committed since a snapshot, and the snapshot in which it was read; see `SharedHeader`. */
export interface TailBatch {
  readonly snapshot: Snapshot;
  readonly shown: Snapshot;
  readonly installID: string;
  /** The change log no longer has the transactions below this ID. */
  readonly horizon: bigint;
  readonly changes: readonly TailChange[];
  /** How many mutations were applied, at most `mostMutations`; if there are as many, all listeners are poked. */
  readonly mutations: number;
  /** The client groups that the mutations are of, each with its user. */
  readonly groups: readonly (readonly [clientGroupID: string, userID: string | null])[];
}

/**
 * Reads what the snapshot has not seen; without a snapshot, only the current state of the database.
 * @param tables the change-log IDs of the tables that matter
 * @throws Problem if a standby has seen more than can be listed.
 */
export async function readTail(
  db: Pick<Database, 'query'>,
  base: Snapshot | undefined,
  tables: readonly number[],
): Promise<TailBatch> {
  const [row] = await db.query<{ line: string }>(look({ base, tables, isListed: base !== undefined }));
  const { header, changes, truncations, mutations } = readReport(row!.line);
  const truncated = new Set(truncations.map(([table]) => table));
  const { snapshot, shown, installID, horizon } = header;
  return {
    snapshot,
    shown,
    installID,
    horizon,
    changes: changes.map(([table, rows, xids]) => {
      const xid = xids?.length === 1 && rows < mostRows ? xids[0]![0] : null;
      return { table, rows, xid, truncated: truncated.has(table) };
    }),
    mutations: mutations.length,
    groups: mutations.map(([group, user]) => [group, user]),
  };
}
