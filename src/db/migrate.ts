/** Installs, upgrades and removes Tidemark's schema, and the change capture on the tables that views read. */
import { readdir, readFile } from 'node:fs/promises';
import type { ClientBase } from 'pg';
import { SetupError } from '../errors.js';
import { identifier } from '../sql.js';
import { captureBody, installCapture, triggerNames } from './capture.js';
import { findTable, type Table } from './catalog.js';
import type { Database, Statement } from './database.js';
import { setNotify } from './notify.js';

const folder = new URL('../../sql/', import.meta.url);

interface Migration {
  readonly version: number;
  readonly file: string;
}

export type Progress = (message: string) => void;

/** The version of the schema that this code works with. */
export async function codeVersion(): Promise<number> {
  return (await migrations()).at(-1)!.version;
}

async function migrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => /^\d{4}-.*\.sql$/.test(file)).sort();
  return files.map((file) => ({ version: Number(file.slice(0, 4)), file }));
}

/**
 * Brings the schema to this code's version. Safe when several run at once: they wait for one another.
 * @throws SetupError when the schema is newer than the code.
 */
export async function migrateSchema(
  db: Database,
  { notify, progress }: { readonly notify: boolean; readonly progress: Progress },
): Promise<void> {
  const known = await migrations();
  await oneAtATime(db, async (client) => {
    await client.query('create schema if not exists tidemark');
    await client.query(`create table if not exists tidemark.migration (
      version integer primary key, file text not null, applied_at timestamptz not null default now())`);
    const { rows } = await client.query<{ version: number }>('select version from tidemark.migration order by version');
    refuseNewer(rows.at(-1)?.version ?? 0, known.at(-1)!.version);
    if (rows.length > 0) await adopt(client, progress);
    for (const migration of known.filter(({ version }) => !rows.some((row) => row.version === version))) {
      progress(`applying ${migration.file}`);
      await client.query(await readFile(new URL(migration.file, folder), 'utf8'));
      await client.query('insert into tidemark.migration (version, file) values ($1, $2)', [
        migration.version,
        migration.file,
      ]);
    }
    if (await setNotify(client, notify)) progress(notify ? 'adding notifications' : 'removing notifications');
  });
}

/**
 * True when stored transaction IDs are of another cluster: what a snapshot shows in this one lies below its xmax. Such log rows would
 * count as unseen by every cookie.
 */
export const foreignSql: string = `
  exists (select from tidemark.meta where horizon >= pg_snapshot_xmax(pg_current_snapshot()))
  or exists (
    select from (select id from tidemark.synced_table union all select 0) logged
    cross join lateral (select xid from tidemark.change where table_id = logged.id order by xid desc limit 1) last
    where last.xid >= pg_snapshot_xmax(pg_current_snapshot())
  )`;

/** After a restore from a dump. The cookies of that time are of another epoch. */
async function adopt(client: ClientBase, progress: Progress): Promise<void> {
  const { rows } = await client.query<{ foreign: boolean }>(`select ${foreignSql} as "foreign"`);
  if (!rows[0]!.foreign) return;
  progress('emptying the change log, which is from another cluster');
  await client.query('truncate tidemark.change, tidemark.tick');
  await client.query(
    'update tidemark.meta set horizon = pg_snapshot_xmin(pg_current_snapshot()), install_id = gen_random_uuid()',
  );
  await client.query('update tidemark.client set xid = pg_current_xact_id()');
}

/** The version of the installed schema; 0 where there is none. */
export async function installedVersion(db: Database): Promise<number> {
  const [found] = await db.query<{ found: boolean }>({
    text: `select to_regclass('tidemark.migration') is not null as found`,
  });
  if (!found!.found) return 0;
  const [row] = await db.query<{ version: number | null }>({
    text: 'select max(version) as version from tidemark.migration',
  });
  return row!.version ?? 0;
}

export function refuseNewer(installed: number, code: number): void {
  if (installed > code) {
    throw new SetupError(
      `The schema "tidemark" has version ${installed}; this code knows versions up to ${code}. Deploy a newer Tidemark: an older one would lose changes.`,
    );
  }
}

/** Installs change capture on each table where it is missing or does not fit. One transaction a table, to hold its lock briefly. */
export async function captureTables(db: Database, tables: readonly Table[], progress: Progress): Promise<void> {
  for (const found of tables) {
    await oneAtATime(db, async (client) => {
      const id = await register(client, found);
      const label = `${found.schema}.${found.name}`;
      const relation = identifier(found.schema, found.name);
      if (await captureFits(client, id, found)) return;
      progress(`capturing changes of ${label}`);
      // Its columns and partitions may have changed until the lock is there.
      await client.query(`lock table ${relation} in share row exclusive mode`);
      const query = async <Row>({ text, values = [] }: Statement) =>
        (await client.query(text, [...values])).rows as Row[];
      const table = await findTable({ query }, relation);
      if (table?.oid !== found.oid)
        throw new SetupError(`The table ${label} has been replaced meanwhile. Run it again.`);
      for (const statement of installCapture(id, table)) await client.query(statement);
    });
  }
}

/** READ COMMITTED: an older snapshot would not show what the others have done while this one waited. */
function oneAtATime(db: Database, work: (client: ClientBase) => Promise<void>): Promise<void> {
  return db.transact(async (client) => {
    await client.query('set transaction isolation level read committed');
    await client.query(`select pg_advisory_xact_lock(hashtextextended('tidemark migrate', 0))`);
    await work(client);
  });
}

async function register(client: ClientBase, table: Table): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    `with added as (
       insert into tidemark.synced_table (relation)
       select $1::oid::regclass where not exists (select from tidemark.synced_table where relation = $1::oid)
       returning id)
     select id from added union all select id from tidemark.synced_table where relation = $1::oid`,
    [table.oid],
  );
  return rows[0]!.id;
}

async function captureFits(client: ClientBase, id: number, table: Table): Promise<boolean> {
  const { rows } = await client.query<CaptureRow>(captureSql, [[id]]);
  return captureFault(table, id, rows) === undefined;
}

/** One trigger of Tidemark's as the catalogs know it. */
export interface CaptureRow {
  readonly tableID: number;
  /** The table or partition that has the trigger. */
  readonly relation: number;
  readonly trigger: string;
  readonly enabled: string;
  readonly body: string;
}

/** The triggers that call the capture functions of the given change-log IDs. */
export const captureSql: string = `
  select s.id as "tableID", t.tgrelid as relation, t.tgname::text as trigger, t.tgenabled::text as enabled, p.prosrc as body
  from tidemark.synced_table s
  join pg_proc p on p.pronamespace = 'tidemark'::regnamespace and p.proname = 'capture_' || s.id
  join pg_trigger t on t.tgfoid = p.oid
  where s.id = any ($1)`;

/** What is wrong with a table's capture; undefined when every change is captured. */
export function captureFault(table: Table, id: number, rows: readonly CaptureRow[]): string | undefined {
  if (table.primaryKey.length === 0) return 'it has no primary key';
  const own = rows.filter((row) => row.tableID === id);
  const expected = captureBody(id, table);
  for (const member of table.members) {
    const label = identifier(member.schema, member.name);
    for (const trigger of triggerNames(table, member)) {
      const row = own.find((candidate) => candidate.relation === member.oid && candidate.trigger === trigger);
      if (!row) return `the trigger ${trigger} is missing on ${label}`;
      if (row.enabled !== 'A') return `the trigger ${trigger} on ${label} does not always fire`;
      if (row.body !== expected) return `the capture of ${label} does not fit its columns`;
    }
  }
  return undefined;
}

/** Removes the schema with all that Tidemark knows of clients, and with it every capture trigger. The user's tables stay. */
export async function dropSchema(db: Database): Promise<void> {
  await db.query({ text: 'drop schema if exists tidemark cascade' });
}
