/** Reads the schema state: the database's identity and timeline, and the tables whose every change is captured. */

import type { Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { digest, type Secrets } from '../protocol/cookie.js';
import { identifier } from '../sql.js';
import type { SyncedTable } from '../store/patches/states.js';
import {
  type CaptureFault,
  type CaptureRow,
  captureFault,
  captureSql,
  explainFault,
  neverCaptured,
  repairable,
} from './capture/capture-check.js';
import { type HashedTable, readHashedTables } from './hashed-tables.js';
import { type ReadPoint, readPointSql } from './row-formats/read-point.js';
import { secretsSql } from './secrets.js';
import { recordTimeline, unrecordedSql } from './timelines.js';
import { installedVersion, refuseOther, supported } from './version.js';

/**
 * SQL condition: stored transaction IDs come from another cluster. This cluster's visible IDs all lie below the current
 * snapshot's xmax. Log rows with foreign IDs would count as unseen by every cookie.
 */
export const foreignSql: string = `
  exists (select from tidemark.meta where horizon >= pg_snapshot_xmax(pg_current_snapshot()))
  or exists (
    select from (select id from tidemark.synced_table union all select 0 union all select -1) logged
    cross join lateral (select xid from tidemark.change where table_id = logged.id order by xid desc limit 1) last
    where last.xid >= pg_snapshot_xmax(pg_current_snapshot())
  )`;

/** The state of Tidemark's schema in a database. */
export interface SchemaState {
  /** The secrets that sign cookies. */
  readonly secrets: Secrets;
  /** The cluster's system identifier and timeline. They differ after a restore or a promotion. */
  readonly cluster: string;
  readonly systemIdentifier: string;
  /** Changes whenever the tables' columns, partitions or triggers change. */
  readonly schemaHash: string;
  /** The tables whose changes are captured. */
  readonly tables: readonly SyncedTable[];
  /** The IDs of the tables in the change log. */
  readonly tableIDs: readonly number[];
  /** For the other requested tables, by OID: why their changes are not captured. */
  readonly faults: ReadonlyMap<number, CaptureFault>;
}

/**
 * SQL for the timeline. The control file records a promotion only at the next checkpoint. On a primary, the name of the
 * current WAL file shows it immediately.
 */
const timelineSql = `case
    when pg_is_in_recovery() then upper(lpad(to_hex(c.timeline_id), 8, '0'))
    else left(pg_walfile_name(pg_current_wal_lsn()), 8)
  end`;

/** SQL condition: the role has SELECT on those of Tidemark's tables that pulls read, but no statement here reads. */
const readableSql = `(
    select bool_and(has_table_privilege(relation, 'select'))
    from unnest('{tidemark.heartbeat,tidemark.client,tidemark.client_group}'::regclass[]) relation
  )`;

const identitySql = `
  select ${secretsSql} as secrets, concat(s.system_identifier, '/', ${timelineSql}) as cluster,
    s.system_identifier::text as "systemIdentifier", ${foreignSql} as "foreign", ${readableSql} as "isReadable",
    ${unrecordedSql}, ${readPointSql}
  from tidemark.meta m, pg_control_system() s, pg_control_checkpoint() c`;

interface IdentityRow extends Pick<SchemaState, 'secrets' | 'cluster' | 'systemIdentifier'> {
  readonly readPoint: ReadPoint | null;
  readonly foreign: boolean;
  readonly isReadable: boolean;
  readonly isUnrecorded: boolean;
}

/**
 * Reads the schema state, and checks which of the tables have all their changes captured.
 * On a primary, records the timeline if it is not recorded yet.
 * @throws SetupError if the schema is missing, has a version that this code does not work with, or comes from another
 * cluster, or if the role lacks the privileges to read it.
 */
export async function readSchemaState(db: Database, tables: readonly Table[]): Promise<SchemaState> {
  return (await readSchemaWithPoint(db, tables)).schemaState;
}

/**
 * Reads the schema state, and a read point from before the tables were read.
 * @throws as `readSchemaState`
 */
export async function readSchemaWithPoint(
  db: Database,
  tables: readonly Table[],
): Promise<{ readonly schemaState: SchemaState; readonly readPoint: ReadPoint | null }> {
  refuseOther(await installedVersion(db), supported);
  // Unnamed, so planned each time: a plan made while the change log was small would be slow once it has grown.
  const [row] = await db.query<IdentityRow>({ text: identitySql });
  const { foreign, isReadable, isUnrecorded, readPoint, ...identity } = row!;
  if (foreign) {
    throw new SetupError(
      'The change log is from another cluster, for example after a restore. Run `tidemark migrate`.',
    );
  }
  if (!isReadable) {
    throw new SetupError(
      "The server's role may not read all of Tidemark's tables. Run `tidemark doctor`: it names them.",
    );
  }
  if (isUnrecorded) await recordTimeline(db);
  const tablesByOID = await readHashedTables(db, tables);
  const hashedTables = [...tablesByOID.values()];
  const { tables: syncedTables, faults } = await checkCapture(db, hashedTables);
  for (const { oid } of tables) {
    if (!tablesByOID.has(oid)) faults.set(oid, repairable('another table now has its name'));
  }
  const schemaState: SchemaState = {
    ...identity,
    schemaHash: digest(hashedTables.map(({ schemaHash }) => schemaHash)),
    ...withIDs(syncedTables),
    faults,
  };
  return { schemaState, readPoint };
}

/** True if the schema state was read for this table among others. */
export function includesTable({ tables, faults }: SchemaState, oid: number): boolean {
  return faults.has(oid) || tables.some((table) => table.oid === oid);
}

/**
 * Returns the schema state of only these tables. Faults of other tables do not matter.
 * @throws SetupError if changes to one of these tables are not captured, or the role lacks SELECT on it.
 */
export function narrow(schemaState: SchemaState, tables: readonly Table[]): SchemaState {
  const tablesByOID = new Map(tables.map((table) => [table.oid, table]));
  const synced = schemaState.tables.filter(({ oid }) => tablesByOID.has(oid));
  for (const { oid, schema, name } of tablesByOID.values()) {
    const fault = schemaState.faults.get(oid);
    if (fault === undefined) continue;
    throw new SetupError(explainFault(`${schema}.${name}`, fault));
  }
  for (const { isReadable, schema, name } of synced) {
    if (isReadable) continue;
    const table = identifier(schema, name);
    throw new SetupError(`The server's role may not read the table ${table}. Grant it SELECT, as the table's owner.`);
  }
  return { ...schemaState, schemaHash: digest(synced.map(({ schemaHash }) => schemaHash)), ...withIDs(synced) };
}

function withIDs(tables: readonly SyncedTable[]): Pick<SchemaState, 'tables' | 'tableIDs'> {
  return { tables, tableIDs: tables.map(({ id }) => id) };
}

async function checkCapture(
  db: Database,
  tables: readonly HashedTable[],
): Promise<{ tables: readonly SyncedTable[]; faults: Map<number, CaptureFault> }> {
  const ids = await db.query<{ id: number; oid: number }>({
    name: 'tidemark_synced_tables',
    text: 'select id, relation::oid as oid from tidemark.synced_table',
  });
  const rows = await db.query<CaptureRow>({
    name: 'tidemark_captures',
    text: captureSql,
    values: [ids.map(({ id }) => id)],
  });
  const synced: SyncedTable[] = [];
  const faults = new Map<number, CaptureFault>();
  for (const table of tables) {
    const id = ids.find(({ oid }) => oid === table.oid)?.id;
    if (id === undefined) {
      faults.set(table.oid, neverCaptured);
      continue;
    }
    const fault = captureFault(table, id, rows);
    if (fault === undefined) synced.push({ ...table, id });
    else faults.set(table.oid, fault);
  }
  return { tables: synced.sort((a, b) => a.id - b.id), faults };
}
