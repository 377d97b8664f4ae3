/** Installs, upgrades and removes Tidemark's schema, and the change capture on the tables that views read. */
import type { ClientBase } from 'pg';
import { findTable, type Table } from '../catalog/tables.js';
import type { Database, Statement } from '../db/database.js';
import { SetupError } from '../errors.js';
import { identifier } from '../sql.js';
import { installCapture } from './capture.js';
import { type CaptureRow, captureFault, captureSql } from './capture-check.js';
import { foreignSql } from './installation.js';
import { setNotify } from './notify.js';
import { migrations, readMigration, refuseNewer } from './version.js';

/** Called with a message for each step. */
export type Progress = (message: string) => void;

/**
 * Brings the schema to this code's version. Safe to run several times at once: the runs wait for each other.
 * @throws SetupError if the schema is newer than this code.
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
      await client.query(await readMigration(migration));
      await client.query('insert into tidemark.migration (version, file) values ($1, $2)', [
        migration.version,
        migration.file,
      ]);
    }
    if (await setNotify(client, notify)) progress(notify ? 'adding notifications' : 'removing notifications');
  });
}

/** Empties the change log if it comes from another cluster, as after a restore. Older cookies get another epoch. */
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

/**
 * Installs change capture on each table where it is missing or does not fit. Each table has its own transaction, so
 * that locks are held only briefly.
 * @throws SetupError if a table is replaced in the meantime.
 */
export async function captureTables(db: Database, tables: readonly Table[], progress: Progress): Promise<void> {
  for (const found of tables) {
    await oneAtATime(db, async (client) => {
      const id = await register(client, found);
      const label = `${found.schema}.${found.name}`;
      const relation = identifier(found.schema, found.name);
      if (await captureFits(client, id, found)) return;
      progress(`capturing changes to ${label}`);
      // Its columns and partitions may have changed before the lock was granted.
      await client.query(`lock table ${relation} in share row exclusive mode`);
      const query = async <Row>({ text, values = [] }: Statement) =>
        (await client.query(text, [...values])).rows as Row[];
      const table = await findTable({ query }, relation);
      if (table?.oid !== found.oid)
        throw new SetupError(`The table ${label} was replaced in the meantime. Run the migration again.`);
      for (const statement of installCapture(id, table)) await client.query(statement);
    });
  }
}

/** Runs one migration at a time. READ COMMITTED, since an older snapshot would hide what others did during the wait. */
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

/**
 * Drops the schema, with all records of clients, and with it every capture trigger. The application's tables stay.
 */
export async function dropSchema(db: Database): Promise<void> {
  await db.query({ text: 'drop schema if exists tidemark cascade' });
}
