/** The queries of `tidemark status`. */
import type { Database } from '../db/database.js';

/** The Postgres server and the connection to it. */
export interface ServerStatus {
  readonly version: string;
  /** As in `server_version_num`: 150004 is 15.4. */
  readonly versionNumber: number;
  readonly database: string;
  readonly role: string;
}

/** The state of the change log. */
export interface LogStatus {
  readonly installID: string;
  /** The system identifier and the timeline of the cluster. */
  readonly cluster: string;
  /** Clients are reset if their cookies contain a snapshot below this transaction ID. */
  readonly horizon: string;
  /** The oldest transaction in the log; null if the log is empty. */
  readonly oldestXid: string | null;
  /** The earliest time that the log is known to cover; null before a server has run. */
  readonly coveredSince: string | null;
  /** The size on disk, with indexes. */
  readonly bytes: number;
  readonly clientGroups: number;
  readonly clients: number;
}

/** A table that has been captured at some time and still exists. */
export interface CapturedTable {
  /** The table's ID in the change log. */
  readonly id: number;
  readonly oid: number;
  /** Quoted; qualified with the schema if the search path does not find it. */
  readonly name: string;
  readonly logRows: number;
}

const serverSql = `
  select current_setting('server_version') as version, current_setting('server_version_num')::int as "versionNumber",
    current_database()::text as database, current_user::text as role`;

const logSql = `
  select m.install_id::text as "installID", concat(s.system_identifier, '/', c.timeline_id) as cluster,
    m.horizon::text as horizon,
    (select min(xid)::text from tidemark.change) as "oldestXid",
    (select to_json(min(at)) #>> '{}' from tidemark.heartbeat where oldest_xid >= m.horizon) as "coveredSince",
    pg_total_relation_size('tidemark.change')::float8 as bytes,
    (select count(*)::float8 from tidemark.client_group) as "clientGroups",
    (select count(*)::float8 from tidemark.client) as clients
  from tidemark.meta m, pg_control_system() s, pg_control_checkpoint() c`;

const tablesSql = `
  select t.id, t.relation::oid as oid, t.relation::text as name, coalesce(l.rows, 0)::float8 as "logRows"
  from tidemark.synced_table t
  left join (select table_id, count(*) as rows from tidemark.change group by table_id) l on l.table_id = t.id
  order by name`;

/** Reads the server's version and the connection's database and role. */
export async function readServer(db: Database): Promise<ServerStatus> {
  const [row] = await db.query<ServerStatus>({ text: serverSql });
  return row!;
}

/** Reads the state of the change log. Requires that the installed schema has this code's version. */
export async function readLog(db: Database): Promise<LogStatus> {
  const [row] = await db.query<LogStatus>({ text: logSql });
  return row!;
}

/** Reads every table that was ever captured and still exists, with the number of its rows in the change log. */
export async function readCapturedTables(db: Database): Promise<CapturedTable[]> {
  return db.query<CapturedTable>({ text: tablesSql });
}
