/** Which database this is, on which timeline, and whether every change to the synced tables is captured. */

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
} from './capture-check.js';
import { type Moment, momentSql } from './layouts/moments.js';
import { secretsSql } from './secrets.js';
import { readShaped, type ShapedTable } from './shaped-tables.js';
import { recordTimeline, unrecordedSql } from './timelines.js';
import { installedVersion, refuseOther, supported } from './version.js';

/**
 * Whether stored transaction IDs come from another cluster: those that a snapshot shows in this one lie below its xmax.
 * Log rows with foreign IDs would count as unseen by every cookie.
 */
export const foreignSql: string = `
  exists (select from tidemark.meta where horizon >= pg_snapshot_xmax(pg_current_snapshot()))
  or exists (
    select from (select id from tidemark.synced_table union all select 0 union all select -1) logged
    cross join lateral (select xid from tidemark.change where table_id = logged.id order by xid desc limit 1) last
    where last.xid >= pg_snapshot_xmax(pg_current_snapshot())
  )`;

/** The state of Tidemark in a database. */
export interface Installation {
  /** They sign cookies. */
  readonly secrets: Secrets;
  /** System identifier and timeline of the cluster. They differ after a restore or a promotion. */
  readonly cluster: string;
  readonly systemIdentifier: string;
  /** Changes whenever the tables' columns, partitions or triggers change. */
  readonly shape: string;
  /** The tables whose changes are captured. */
  readonly tables: readonly SyncedTable[];
  /** Their IDs in the change log. */
  readonly tableIDs: readonly number[];
  /** For the other tables that were asked for, by OID: why their changes are not captured. */
  readonly faults: ReadonlyMap<number, CaptureFault>;
}

/**
 * The timeline. The control file records a promotion only at the next checkpoint; on a primary, the name of the current
 * WAL file shows it at once.
 */
const timelineSql = `case
    when pg_is_in_recovery() then upper(lpad(to_hex(c.timeline_id), 8, '0'))
    else left(pg_walfile_name(pg_current_wal_lsn()), 8)
  end`;

/** Whether the role may read the tables of Tidemark's that pulls read, and nothing here does. */
const readableSql = `(
    select bool_and(has_table_privilege(of_pulls, 'select'))
    from unnest('{tidemark.tick,tidemark.client,tidemark.client_group}'::regclass[]) of_pulls
  )`;

const identitySql = `
  select ${secretsSql} as secrets, concat(s.system_identifier, '/', ${timelineSql}) as cluster,
    s.system_identifier::text as "systemIdentifier", ${foreignSql} as "foreign", ${readableSql} as "isReadable",
    ${unrecordedSql}, ${momentSql}
  from tidemark.meta m, pg_control_system() s, pg_control_checkpoint() c`;

interface IdentityRow extends Pick<Installation, 'secrets' | 'cluster' | 'systemIdentifier'> {
  readonly moment: Moment | null;
  readonly foreign: boolean;
  readonly isReadable: boolean;
  readonly isUnrecorded: boolean;
}

/**
 * Reads the installation, and checks which of the tables have all their changes captured.
 * On a primary that nobody has done it for, the timeline is recorded.
 * @throws SetupError if the schema is missing, has a version that this code does not work with, or comes from another
 * cluster; or if the role may not read it.
 */
export async function readInstallation(db: Database, tables: readonly Table[]): Promise<Installation> {
  return (await readAtMoment(db, tables)).installation;
}

/**
 * The same, and a moment before the tables were read.
 * @throws as `readInstallation`
 */
export async function readAtMoment(
  db: Database,
  tables: readonly Table[],
): Promise<{ readonly installation: Installation; readonly moment: Moment | null }> {
  refuseOther(await installedVersion(db), supported);
  // Planned anew each time: a plan made while the change log was small would not do once it has grown.
  const [row] = await db.query<IdentityRow>({ text: identitySql });
  const { foreign, isReadable, isUnrecorded, moment, ...identity } = row!;
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
  const found = await readShaped(db, tables);
  const shaped = [...found.values()];
  const { tables: captured, faults } = await checkCapture(db, shaped);
  for (const { oid } of tables) if (!found.has(oid)) faults.set(oid, repairable('another table now has its name'));
  const installation: Installation = {
    ...identity,
    shape: digest(shaped.map(({ shape }) => shape)),
    ...withIDs(captured),
    faults,
  };
  return { installation, moment };
}

/** Whether this table was among those that the installation was read for. */
export function knows({ tables, faults }: Installation, oid: number): boolean {
  return faults.has(oid) || tables.some((table) => table.oid === oid);
}

/**
 * The installation as far as it concerns these tables. Faults of other tables do not matter.
 * @throws SetupError if changes to one of these tables are not captured, or the role may not read it.
 */
export function narrow(installation: Installation, tables: readonly Table[]): Installation {
  const wanted = new Map(tables.map((table) => [table.oid, table]));
  const synced = installation.tables.filter(({ oid }) => wanted.has(oid));
  for (const { oid, schema, name } of wanted.values()) {
    const fault = installation.faults.get(oid);
    if (fault === undefined) continue;
    throw new SetupError(explainFault(`${schema}.${name}`, fault));
  }
  for (const { isReadable, schema, name } of synced) {
    if (isReadable) continue;
    const table = identifier(schema, name);
    throw new SetupError(`The server's role may not read the table ${table}. Grant it SELECT, as the table's owner.`);
  }
  return { ...installation, shape: digest(synced.map(({ shape }) => shape)), ...withIDs(synced) };
}

function withIDs(tables: readonly SyncedTable[]): Pick<Installation, 'tables' | 'tableIDs'> {
  return { tables, tableIDs: tables.map(({ id }) => id) };
}

async function checkCapture(
  db: Database,
  tables: readonly ShapedTable[],
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
