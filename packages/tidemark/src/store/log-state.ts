import type { Database } from '../db/database.js';

/** The size of the change log, and how far back it reaches. */
export interface LogState {
  /** On disk, including indexes. */
  readonly bytes: number;
  /** As estimated by Postgres. */
  readonly rows: number;
  /** How far back the log has all changes, in seconds. */
  readonly reachSeconds: number;
}

const logStateSql = `
  select pg_total_relation_size('tidemark.change')::float8 as bytes,
    (select greatest(reltuples, 0) from pg_class where oid = 'tidemark.change'::regclass)::float8 as rows,
    coalesce(extract(epoch from now() - (select min(at) from tidemark.heartbeat where oldest_xid >= m.horizon)), 0)::float8
      as "reachSeconds"
  from tidemark.meta m`;

export async function readLogState(db: Pick<Database, 'query'>): Promise<LogState> {
  const [row] = await db.query<LogState>({ text: logStateSql });
  return row!;
}
