/** Which history of which database this is, and whether every change of the synced tables is captured. */

import { findTable, type Table } from '../catalog/tables.js';
import type { Database } from '../db/database.js';
import { SetupError } from '../errors.js';
import { digest } from '../protocol/cookie.js';
import { identifier } from '../sql.js';
import type { SyncedTable } from '../store/states.js';
import { type CaptureRow, captureFault, captureSql } from './capture-check.js';
import { codeVersion, installedVersion, refuseNewer } from './version.js';

/**
 * True when stored transaction IDs are of another cluster: what a snapshot shows in this one lies below its xmax. Such
 * log rows would count as unseen by every cookie.
 */
export const foreignSql: string = `
  exists (select from tidemark.meta where horizon >= pg_snapshot_xmax(pg_current_snapshot()))
  or exists (
    select from (select id from tidemark.synced_table union all select 0) logged
    cross join lateral (select xid from tidemark.change where table_id = logged.id order by xid desc limit 1) last
    where last.xid >= pg_snapshot_xmax(pg_current_snapshot())
  )`;

export interface Installation {
  readonly secret: string;
  /** System identifier and timeline of the cluster: a restored or promoted one differs. */
  readonly cluster: string;
  /** Changes with any change of the tables' columns, partitions or triggers. */
  readonly shape: string;
  /** The tables whose changes are captured. */
  readonly tables: readonly SyncedTable[];
  /** By OID: why the changes of each other table that was asked for are not captured. */
  readonly faults: ReadonlyMap<number, string>;
}

/**
 * The control file learns of a promotion only with the next checkpoint; where there is WAL to write, its name tells at
 * once.
 */
const timelineSql = `case
    when pg_is_in_recovery() then upper(lpad(to_hex(c.timeline_id), 8, '0'))
    else left(pg_walfile_name(pg_current_wal_lsn()), 8)
  end`;

const identitySql = `
  select m.secret, concat(s.system_identifier, '/', ${timelineSql}) as cluster,
    ${foreignSql} as "foreign"
  from tidemark.meta m, pg_control_system() s, pg_control_checkpoint() c`;

/** By the table's name; where that is gone, by its OID. */
const outlineSql = `
  select found.oid, tidemark.outline(found.oid)::text as outline from coalesce(to_regclass($1)::oid, $2::oid) found (oid)`;

/**
 * All that a view's rows depend on besides the rows of its tables. The xmin of a catalog row tells any change of it,
 * and one that was undone: a trigger disabled for a while lost changes, and so did a table that was another's child for
 * a while. A table that was a parent is marked as one for long. A partition that is truncated by itself has another
 * file.
 */
const shapeSql = `
  with recursive member (oid) as (
    select $1::oid
    union
    select inhrelid from member join pg_inherits on inhparent = member.oid
  ), type (oid) as (
    select atttypid from pg_attribute where attrelid = any (array(select oid from member)) and attnum > 0 and not attisdropped
    union
    select part.oid
    from type join pg_type t on t.oid = type.oid left join pg_range r on t.oid in (r.rngtypid, r.rngmultitypid)
    cross join lateral (
      select unnest(array[t.typelem, t.typbasetype, r.rngsubtype])
      union all
      select atttypid from pg_attribute where attrelid = t.typrelid and attnum > 0 and not attisdropped
    ) part (oid)
    where part.oid <> 0
  ), relation (oid) as (
    select oid from member
    union all
    select t.typrelid from type join pg_type t on t.oid = type.oid where t.typrelid <> 0
  )
  select concat_ws(' ', 'relation', c.oid, c.relnamespace::regnamespace, c.relname, c.relkind, c.relpersistence,
    pg_table_is_visible(c.oid), row_security_active(c.oid), c.relkind = 'r' and c.relhassubclass,
    case when c.relispartition then pg_relation_filenode(c.oid) end) as part
  from pg_class c join relation on relation.oid = c.oid
  union all
  select concat_ws(' ', 'column', attrelid, attnum, attname, atttypid, attisdropped, a.xmin)
  from pg_attribute a join relation on oid = attrelid where attnum > 0
  union all
  select concat_ws(' ', 'label', enumtypid, e.oid, enumlabel, e.xmin) from pg_enum e join type on type.oid = enumtypid
  union all
  select concat_ws(' ', 'trigger', tgrelid, tgname, tgenabled, xmin) from pg_trigger
  where tgrelid = any (array(select oid from member)) and tgname like 'tidemark%'
  union all
  select concat_ws(' ', 'inheritance', inhparent, inhrelid, i.xmin) from pg_inherits i
  where inhparent = any (array(select oid from member)) or inhrelid = $1
  union all
  select concat_ws(' ', 'key', indkey) from pg_index where indrelid = $1 and indisprimary
  order by part`;

/**
 * Reads the installation, and checks of which tables nothing can change unseen.
 * @throws SetupError when the schema is missing, or is not this cluster's.
 */
export async function readInstallation(db: Database, tables: readonly Table[]): Promise<Installation> {
  const version = await installedVersion(db);
  const code = await codeVersion();
  refuseNewer(version, code);
  if (version < code) {
    throw new SetupError(
      version === 0
        ? 'Tidemark is not installed in this database. Run `tidemark migrate`.'
        : `The schema "tidemark" has version ${version}, this code needs ${code}. Run \`tidemark migrate\`.`,
    );
  }
  const [identity] = await db.query<{ secret: string; cluster: string; foreign: boolean }>({ text: identitySql });
  if (identity!.foreign) {
    throw new SetupError('The change log is from another cluster, as after a restore. Run `tidemark migrate`.');
  }
  const current = await Promise.all(tables.map((table) => readShaped(db, table)));
  // A table that was made anew is found by its name twice.
  const found = new Map(current.map((table) => [table.oid, table]));
  const shaped = [...found.values()];
  const { secret, cluster } = identity!;
  const { tables: captured, faults } = await checkCapture(db, shaped);
  for (const { oid } of tables) if (!found.has(oid)) faults.set(oid, 'another table has taken its name');
  return { secret, cluster, shape: digest(shaped.map(({ shape }) => shape)), tables: captured, faults };
}

type ShapedTable = Omit<SyncedTable, 'id'>;

/**
 * Reads a table as it is now. What is read later may be of a later time: then the outline is not that of the statements
 * to come, or the shape not that of the next reading.
 */
async function readShaped(db: Database, table: Table): Promise<ShapedTable> {
  const name = identifier(table.schema, table.name);
  const [outlined] = await db.query<{ oid: number; outline: string }>({ text: outlineSql, values: [name, table.oid] });
  const { oid, outline } = outlined!;
  const parts = await db.query<{ part: string }>({ text: shapeSql, values: [oid] });
  const current = (await findTable(db, name)) ?? table;
  return { ...current, outline, shape: digest(parts.map(({ part }) => part)) };
}

/** Whether the installation was read with a view to this table. */
export function knows({ tables, faults }: Installation, oid: number): boolean {
  return faults.has(oid) || tables.some((table) => table.oid === oid);
}

/**
 * The installation as far as it concerns these tables. What is wrong with others is no matter of who does not read
 * them.
 * @throws SetupError when changes of one of them are not captured.
 */
export function narrow(installation: Installation, tables: readonly Table[]): Installation {
  const wanted = new Map(tables.map((table) => [table.oid, table]));
  const synced = installation.tables.filter(({ oid }) => wanted.has(oid));
  for (const { oid, schema, name } of wanted.values()) {
    const fault = installation.faults.get(oid);
    if (fault === undefined) continue;
    throw new SetupError(`Changes of ${schema}.${name} are not captured: ${fault}. Run \`tidemark migrate\`.`);
  }
  return { ...installation, shape: digest(synced.map(({ shape }) => shape)), tables: synced };
}

async function checkCapture(
  db: Database,
  tables: readonly ShapedTable[],
): Promise<{ tables: readonly SyncedTable[]; faults: Map<number, string> }> {
  const ids = await db.query<{ id: number; oid: number }>({
    text: 'select id, relation::oid as oid from tidemark.synced_table',
  });
  const rows = await db.query<CaptureRow>({ text: captureSql, values: [ids.map(({ id }) => id)] });
  const synced: SyncedTable[] = [];
  const faults = new Map<number, string>();
  for (const table of tables) {
    const id = ids.find(({ oid }) => oid === table.oid)?.id;
    if (id === undefined) {
      faults.set(table.oid, 'it has never been captured');
      continue;
    }
    const fault = captureFault(table, id, rows);
    if (fault === undefined) synced.push({ ...table, id });
    else faults.set(table.oid, fault);
  }
  return { tables: synced.sort((a, b) => a.id - b.id), faults };
}
