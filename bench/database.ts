/** A Postgres for one run, and its rows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbedded } from '../packages/embedded-postgres/src/start.js';
import { binariesUnderTest } from '../test/support/cluster.js';

export interface BenchDatabase {
  readonly url: string;
  /** The cluster's settings that differ from the defaults. */
  readonly settings: Readonly<Record<string, string>>;
  readonly pool: pg.Pool;
  stop(): Promise<void>;
}

/**
 * Durable, as by default. With this much room for WAL, checkpoints do not hit one contender more than the other.
 * Statements can be counted.
 */
const settings = { max_wal_size: '4GB', max_connections: '100', shared_preload_libraries: 'pg_stat_statements' };

/** Starts the Postgres that `TIDEMARK_TEST_POSTGRES` names, as for tests. `stock` is Debian's with its defaults. */
export async function startDatabase(): Promise<BenchDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-bench-'));
  const cluster = await startEmbedded({ directory, settings: { ...settings }, ...binariesUnderTest() });
  const pool = await connectTo(cluster.url, 20);
  await countStatements(pool, false);
  return {
    url: cluster.url,
    settings,
    pool,
    async stop() {
      await pool.end();
      await cluster.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Makes all connections start or stop counting statements. Counting is off while times are measured: each statement
 * that contains constants would get an entry of its own, and evict others.
 */
export async function countStatements(pool: pg.Pool, isOn: boolean): Promise<void> {
  await pool.query(`alter system set pg_stat_statements.track = ${isOn ? 'top' : 'none'}`);
  await pool.query('select pg_reload_conf()');
  // A connection applies the setting from its next statement on.
  await sleep(200);
}

/** Opens the bench's own connections to a database. Their statements are never counted. */
export async function connectTo(url: string, connections: number): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: url, max: connections, options: '-c pg_stat_statements.track=none' });
  // `end` does not wait for the connections to close, so the cluster's shutdown may still break them.
  pool.on('error', () => {});
  await pool.query('create extension pg_stat_statements');
  return pool;
}

const todoSchema = `
  create table list (id text primary key, owner_id text not null, name text not null);
  create index on list (owner_id);
  create table share (list_id text not null references list, user_id text not null, primary key (list_id, user_id));
  create index on share (user_id);
  create table todo (
    id text primary key, list_id text not null references list, title text not null, done boolean not null,
    sort integer not null, note text not null, updated_at timestamptz not null default now()
  );
  create index on todo (list_id);`;

/** The tables whose writes are measured with and without capture. */
const captureSchema = `
  create table plain (id integer primary key, owner_id text not null, title text not null, note text not null);
  create table captured (like plain including all);`;

const rowsPerList = 100;

/** Returns the user who sees this many todos. The user owns half of the lists; the others are shared with the user. */
export function userOf(size: number): string {
  return `user${size}`;
}

/** Returns the n-th todo, from 1, that the user of this size sees. */
export function todoOf(size: number, n: number): string {
  return `t${size}.${String(n).padStart(8, '0')}`;
}

export async function seed(pool: pg.Pool, sizes: readonly number[]): Promise<void> {
  await pool.query(captureSchema);
  await seedTodos(pool, sizes);
  await pool.query('checkpoint');
}

/** Creates the tables of the application `todos`, with a user for each of these numbers of todos. */
export async function seedTodos(pool: pg.Pool, sizes: readonly number[]): Promise<void> {
  await pool.query(todoSchema);
  for (const size of sizes) await addTodos(pool, size);
  await pool.query('vacuum analyze');
}

/** Adds the user who sees this many todos, a multiple of 100. */
export async function addTodos(pool: pg.Pool, size: number): Promise<void> {
  const lists = size / rowsPerList;
  await pool.query(
    `insert into list select 'l' || $1 || '.' || n, case when n % 2 = 0 then $2 else 'somebody' end, 'List ' || n
     from generate_series(1, $3::integer) n`,
    [size, userOf(size), lists],
  );
  await pool.query(
    `insert into share select 'l' || $1 || '.' || n, $2 from generate_series(1, $3::integer) n where n % 2 = 1`,
    [size, userOf(size), lists],
  );
  await pool.query(
    `insert into todo
     select 't' || $1 || '.' || lpad(n::text, 8, '0'), 'l' || $1 || '.' || 1 + n % $3::integer, 'Todo ' || n || ' of a list', n % 3 = 0, n,
       rpad('', 60, md5(n::text))
     from generate_series(1, $2::integer) n`,
    [size, size, lists],
  );
}

/** Adds users who all see this one list and nothing else. Returns their names. */
export async function addUsers(pool: pg.Pool, list: string, users: number): Promise<string[]> {
  const { rows } = await pool.query<{ user_id: string }>(
    `insert into share select $1, $1 || ' ' || n from generate_series(1, $2::integer) n returning user_id`,
    [list, users],
  );
  await pool.query('analyze share');
  return rows.map(({ user_id }) => user_id);
}
