/** How far the write-ahead log goes: on the primary, and on a standby that follows it. */
import type { Database } from '../db/database.js';

/** Where a database is. A position is a number of bytes from the beginning of the write-ahead log. */
export interface Position {
  readonly isStandby: boolean;
  /** On a primary, up to where standbys can follow; on a standby, up to where it shows everything. Null if unknown. */
  readonly position: bigint | null;
  readonly systemIdentifier: string;
}

const sql = `
  select pg_is_in_recovery() as "isStandby", s.system_identifier::text as "systemIdentifier", (
    case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end - '0/0'
  )::text as position
  from pg_control_system() s`;

/** @throws the database's error if there is no answer in time */
export async function readPosition(db: Database, timeoutMs: number): Promise<Position> {
  const [row] = await db.query<Omit<Position, 'position'> & { position: string | null }>({ text: sql, timeoutMs });
  return { ...row!, position: row!.position === null ? null : BigInt(row!.position) };
}
