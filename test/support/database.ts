import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openPool } from '../../packages/tidemark/src/db/pg.js';
import { migrateSchema } from '../../packages/tidemark/src/schema/migrate.js';
import { ordinarySettings } from './ordinary-settings.js';

export interface TestDatabase {
  /** For the code under test. It goes through a pooler where tests run through one. */
  readonly url: string;
  /** A pool to inspect the database with, bypassing any pooler. */
  readonly pool: pg.Pool;
  drop(): Promise<void>;
}

/** Creates a database in the test cluster, with Tidemark's schema in it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await create(`template ${await migratedTemplate()}`);
  // As if Tidemark had been installed in this database just now.
  await asNew(database);
  return database;
}

/** Copies a database that has no connections, as if Tidemark had been installed in the copy just now. */
export async function copyDatabase(url: string): Promise<TestDatabase> {
  const copy = await create(`template "${new URL(url).pathname.slice(1)}"`);
  await asNew(copy);
  return copy;
}

async function asNew({ pool }: TestDatabase): Promise<void> {
  await pool.query(
    'update tidemark.meta set install_id = default, secret = default, horizon = default, aging = default',
  );
}

/** Creates an empty database in the test cluster. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('');
}

/** The name of a database with Tidemark's schema. Copying it takes a quarter of the time of an installation. */
async function migratedTemplate(): Promise<string> {
  const name = 'migrated_template';
  const address = new URL(process.env.TIDEMARK_TEST_CLUSTER!);
  const { rowCount } = await onCluster(address.href, `select from pg_database where datname = '${name}'`);
  if (rowCount === 0) {
    await onCluster(address.href, `create database ${name}`);
    address.pathname = name;
    const db = openPool(address.href);
    await migrateSchema(db, { notify: false, progress: () => {} });
    await db.close();
  }
  return name;
}

async function create(options: string): Promise<TestDatabase> {
  const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await onCluster(cluster, `create database ${name} ${options}`);
  const address = new URL(cluster);
  address.pathname = name;
  const settings = process.env.TIDEMARK_TEST_SETTINGS;
  if (settings) await makeOrdinary(cluster, name, settings);
  const pool = createPool(address.href, 5);
  if (settings) await pool.query('create publication everything for all tables');
  return {
    url: throughPooler(address.href),
    pool,
    async drop() {
      await pool.end();
      await forgetPooled(cluster, name);
      await untilDisconnected(cluster, name);
      await onCluster(cluster, `drop database ${name} with (force)`);
    },
  };
}

/** Gives a database the settings that other applications use. */
async function makeOrdinary(cluster: string, name: string, settings: string): Promise<void> {
  const { rows } = await onCluster(cluster, 'select lower(name) as name from pg_settings');
  for (const statement of ordinarySettings(settings, name, new Set(rows.map((row) => row.name)))) {
    await onCluster(cluster, statement);
  }
}

function throughPooler(url: string): string {
  const pooler = process.env.TIDEMARK_TEST_POOLER;
  return pooler ? Object.assign(new URL(url), { host: new URL(pooler).host }).href : url;
}

/** Makes the pooler close its connections to a database. */
async function forgetPooled(cluster: string, name: string): Promise<void> {
  if (!process.env.TIDEMARK_TEST_POOLER) return;
  const itself = Object.assign(new URL(throughPooler(cluster)), { pathname: 'pgbouncer' });
  await onCluster(itself.href, `kill ${name}`).catch((error: Error) => {
    if (!/no such database/.test(error.message)) throw error;
  });
}

/**
 * Waits until a database's connections have ended. A pool reports its end before its connections have ended, and by
 * then nothing listens for the error of a terminated one. Longer-lived connections do handle that error.
 */
async function untilDisconnected(cluster: string, name: string): Promise<void> {
  for (let turn = 0; turn < 100; turn++) {
    const { rowCount } = await onCluster(
      cluster,
      `select from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
    );
    if (rowCount === 0) return;
    await sleep(5);
  }
}

/** A pool whose idle connections may break, because tests kill backends. */
export function createPool(connectionString: string, max: number, options: pg.PoolConfig = {}): pg.Pool {
  return new pg.Pool({ ...options, connectionString, max }).on('error', () => {});
}

/** The version of Postgres, as in `server_version_num`. */
export async function versionOf(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(`select current_setting('server_version_num')::int as version`);
  return rows[0].version;
}

/**
 * Waits until this many statements in a database wait for a lock.
 * @param like a LIKE pattern for the statements
 */
export async function untilWaiting(pool: pg.Pool, count = 1, like = '%'): Promise<void> {
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like $1`;
  while ((await pool.query(waiting, [like])).rowCount! < count) await sleep(20);
}

const clusters = new Map<string, pg.Pool>();

/** Uses a connection that stays open, because its first `create database` takes a quarter of a second. */
function onCluster(url: string, sql: string): Promise<pg.QueryResult> {
  const pool = clusters.get(url) ?? createPool(url, 1, { idleTimeoutMillis: 0 });
  clusters.set(url, pool);
  return pool.query(sql);
}
