/** The snapshot of the statement that reads it. */
import { Problem } from '../errors.js';
import { parseSnapshot, type Snapshot, standbySnapshot } from '../protocol/snapshot.js';

/** The fields that `snapshotFields` writes. */
export interface SnapshotFields {
  readonly snapshot: string;
  /** Null on a primary. */
  readonly standby: { readonly known: string; readonly seen: readonly string[] | null } | null;
}

/**
 * Fields for a JSON object, in a query that has `pg_current_snapshot()` as `s`.
 *
 * @param tables the change-log IDs of the tables that matter, as an SQL expression
 */
export function snapshotFields(tables: string): string {
  return `'snapshot', s::text,
  'standby', case when pg_is_in_recovery() then tidemark.seen_by_standby(${tables}) end`;
}

/**
 * Reads the snapshot from the fields.
 * @throws Problem if a standby has seen more than can be listed.
 */
export function readSnapshot({ snapshot, standby }: SnapshotFields): Snapshot {
  const bounds = parseSnapshot(snapshot)!;
  if (standby === null) return bounds;
  if (standby.seen === null) {
    throw new Problem(
      'unavailable',
      'The database is a standby and cannot tell what it shows: too much has happened during a long transaction on its primary; ask a server on the primary',
    );
  }
  return standbySnapshot(bounds, parseSnapshot(standby.known)!, standby.seen.map(BigInt));
}
