/** Installs, upgrades and removes Tidemark's schema, and the change capture on the tables that views read. */
import type { ClientBase } from 'pg';
import { findTable, type Table, tableLabel } from '../catalog/tables.js';
import { type Database, queryOf, readCommitted } from '../db/database.js';
import { setOwn } from '../db/own-settings.js';
import { isLockTimeout, isUniquenessViolation } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import { identifier } from '../sql.js';
import { type CaptureFault, type CaptureRow, captureFault, captureSql, explainFault } from './capture/capture-check.js';
import { captureFunction, createCaptureFunction } from './capture/capture-function.js';
import { createCaptureTriggers } from './capture/triggers.js';
import { setNotify } from './notify.js';
import { foreignSql } from './schema-state.js';
import { codeVersion, migrations, recordOf, refuseNewer, refuseOtherEncoding } from './version.js';

/** Called with a message for each step. */
export type Progress = (message: string) => void;

const appliedSql = `
  select version, true as breaking from tidemark.migration union all select version, false from tidemark.expansion`;

/**
 * Brings the schema to this code's version. Concurrent runs are safe, because they wait for each other.
 * @throws SetupError if the schema is newer than this code, or another transaction holds a lock for too long.
 */
export async function migrateSchema(
  db: Database,
  { notify, progress }: { readonly notify: boolean; readonly progress: Progress },
): Promise<void> {
  const bringUpToDate = async (client: ClientBase) => {
    const encodings = await client.query<{ server_encoding: string }>('show server_encoding');
    refuseOtherEncoding(encodings.rows[0]!.server_encoding);
    await client.query('create schema if not exists tidemark');
    for (const table of ['tidemark.migration', 'tidemark.expansion']) {
      await client.query(`create table if not exists ${table} (
        version integer primary key, file text not null, applied_at timestamptz not null default now())`);
    }
    await lockMigrations(client);
    const { rows } = await client.query<{ version: number; breaking: boolean }>(appliedSql);
    refuseNewer({ breaking: Math.max(0, ...rows.map((row) => (row.breaking ? row.version : 0))) }, codeVersion);
    if (rows.length > 0) await adopt(client, progress);
    for (const migration of migrations.filter(({ version }) => !rows.some((row) => row.version === version))) {
      progress(`applying ${migration.file}`);
      await client.query(migration.sql);
      await client.query(`insert into ${recordOf(migration)} (version, file) values ($1, $2)`, [
        migration.version,
        migration.file,
      ]);
    }
    // Otherwise a server on a standby would have to wait until a server on the primary does this.
    await client.query('select tidemark.record_timeline()');
    if (await setNotify(client, notify)) progress(notify ? 'adding notifications' : 'removing notifications');
  };
  const migrate = () => transact(db, 'the schema tidemark', bringUpToDate);
  await migrate().catch((error: unknown) => {
    // A concurrent run has just created the schema. Now there is a table to lock.
    if (isUniquenessViolation(error)) return migrate();
    throw error;
  });
}

/** If the change log comes from another cluster, as after a restore: empties it, and changes the database ID. */
async function adopt(client: ClientBase, progress: Progress): Promise<void> {
  const { rows } = await client.query<{ foreign: boolean }>(`select ${foreignSql} as "foreign"`);
  if (!rows[0]!.foreign) return;
  progress('emptying the change log, which is from another cluster');
  await client.query('truncate tidemark.change, tidemark.heartbeat');
  await client.query(
    'update tidemark.meta set horizon = pg_snapshot_xmin(pg_current_snapshot()), install_id = gen_random_uuid()',
  );
  // Every new cookie has seen these mutations, and existing cookies are no longer valid.
  await client.query(`update tidemark.client set xid = '0'`);
}

/**
 * Installs change capture on each table where it is missing or outdated. Each table has its own transaction, which
 * holds locks only briefly.
 * @throws SetupError if a table is replaced during the run or cannot be captured, or a lock is held for too long.
 */
export async function captureTables(db: Database, tables: readonly Table[], progress: Progress): Promise<void> {
  for (const original of tables) {
    const label = tableLabel(original);
    await transact(db, `the table ${label}`, async (client) => {
      await lockMigrations(client);
      const id = await register(client, original);
      const relation = identifier(original.schema, original.name);
      const before = await captureState(client, id, original);
      if (before.isBest) return;
      progress(`capturing changes to ${label}`);
      // Keep the triggers. Replacing them would reset clients, because a replaced trigger may have missed changes.
      if (!before.fault) return runEach(client, createCaptureFunction(id, original));
      // Its columns and partitions may have changed before the lock was granted.
      await client.query(`lock table ${relation} in share row exclusive mode`);
      const table = await findTable({ query: queryOf(client) }, relation);
      if (table?.oid !== original.oid) {
        throw new SetupError(`The table ${label} was replaced in the meantime. Run the migration again.`);
      }
      await runEach(client, [...createCaptureFunction(id, table), ...createCaptureTriggers(id, table)]);
      const { fault } = await captureState(client, id, table);
      if (fault) throw new SetupError(explainFault(label, fault));
    });
  }
}

/**
 * Uses READ COMMITTED, because an older snapshot would hide changes made while this waits for a lock. Because new
 * writers of a table queue behind it, a wait ends after a minute, unless the role or the connection string sets another
 * `lock_timeout`. Other timeouts do not apply.
 */
async function transact(db: Database, changes: string, work: (client: ClientBase) => Promise<void>): Promise<void> {
  try {
    await db.transact(async (client) => {
      await client.query(readCommitted);
      await client.query(setOwn);
      await client.query(`select set_config('lock_timeout', '60s', true) where current_setting('lock_timeout') = '0'`);
      await work(client);
    });
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new SetupError(
      `The migration waited too long to change ${changes}: another migration is running, or a transaction that has ` +
        'used it stays open. See pg_stat_activity. End that transaction, then run the migration again.',
      { cause: error },
    );
  }
}

/** Lets one migration run at a time. Only roles that are allowed to write to the table can take this lock. */
async function lockMigrations(client: ClientBase): Promise<void> {
  await client.query('lock table tidemark.migration in share row exclusive mode');
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

async function runEach(client: ClientBase, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await client.query(statement);
}

interface CaptureState {
  /** Undefined if every change is captured. */
  readonly fault: CaptureFault | undefined;
  /** True if every change is captured by the fastest function for the table's columns. */
  readonly isBest: boolean;
}

async function captureState(client: ClientBase, id: number, table: Table): Promise<CaptureState> {
  const { rows } = await client.query<CaptureRow>(captureSql, [[id]]);
  const fault = captureFault(table, id, rows);
  const best = captureFunction(id, table).body;
  return { fault, isBest: !fault && rows.every(({ body }) => body === best) };
}

/**
 * Drops the schema with all records of clients, and thereby every capture trigger. The application's tables stay.
 */
export async function dropSchema(db: Database): Promise<void> {
  await db.query({ text: 'drop schema if exists tidemark cascade' });
}
