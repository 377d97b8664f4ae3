/** The end of the write-ahead log, on the primary and on a standby that follows it. */
import type { Database } from '../db/database.js';

/** A database's position in the write-ahead log, in bytes from the log's beginning. */
export interface DatabaseWalPosition {
  readonly isStandby: boolean;
  /** On a primary, how far standbys can follow; on a standby, how far it shows everything. Null if unknown. */
  readonly position: bigint | null;
  readonly systemIdentifier: string;
}

const positionSql = `
  select pg_is_in_recovery() as "isStandby", s.system_identifier::text as "systemIdentifier", (
    case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end - '0/0'
  )::text as position
  from pg_control_system() s`;

/** @throws the database's error if it does not answer in time */
export async function readWalPosition(db: Database, timeoutMs: number): Promise<DatabaseWalPosition> {
  const [row] = await db.query<Omit<DatabaseWalPosition, 'position'> & { position: string | null }>({
    text: positionSql,
    timeoutMs,
  });
  return { ...row!, position: row!.position === null ? null : BigInt(row!.position) };
}
