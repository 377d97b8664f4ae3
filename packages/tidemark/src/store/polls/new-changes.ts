/** Reads what has been committed since a snapshot, in one cheap query. */
import type { Database } from '../../db/database.js';
import type { Snapshot } from '../../protocol/snapshot.js';
import { maxRows, readObservation } from './observation.js';
import { pollStatement } from './poll.js';

/** The changes committed to one table. */
export interface TableChange {
  /** The table's ID in the change log. */
  readonly table: number;
  /** The number of its log rows, at most `maxRows`. */
  readonly rows: number;
  /** The only transaction that wrote them; null if there are several, or if `maxRows` is reached. */
  readonly xid: string | null;
  readonly truncated: boolean;
}

/** The changes committed since a snapshot, and the snapshots of the poll that read them; see `DatabaseState`. */
export interface NewChanges {
  readonly snapshot: Snapshot;
  readonly visibleSnapshot: Snapshot;
  readonly installID: string;
  /** The change log no longer has transactions below this ID. */
  readonly horizon: bigint;
  readonly changes: readonly TableChange[];
  /** The number of applied mutations, at most `maxMutations`. If there are this many, all subscribers are poked. */
  readonly mutations: number;
  /** The client groups of the mutations, each with its user. */
  readonly groups: readonly (readonly [clientGroupID: string, userID: string | null])[];
}

/**
 * Reads what the snapshot has not seen; without a snapshot, only the current state of the database.
 * @param tables the change-log IDs of the tables that matter
 * @throws Problem if a standby has seen more than can be listed.
 */
export async function readNewChanges(
  db: Pick<Database, 'query'>,
  base: Snapshot | undefined,
  tables: readonly number[],
): Promise<NewChanges> {
  const [row] = await db.query<{ line: string }>(pollStatement({ base, tables, isListed: base !== undefined }));
  const { state, changes, truncations, mutations } = readObservation(row!.line);
  const truncated = new Set(truncations.map(([table]) => table));
  const { snapshot, visibleSnapshot, installID, horizon } = state;
  return {
    snapshot,
    visibleSnapshot,
    installID,
    horizon,
    changes: changes.map(([table, rows, xids]) => {
      const xid = xids?.length === 1 && rows < maxRows ? xids[0]![0] : null;
      return { table, rows, xid, truncated: truncated.has(table) };
    }),
    mutations: mutations.length,
    groups: mutations.map(([group, user]) => [group, user]),
  };
}
