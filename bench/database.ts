/** A Postgres for one run, and the rows in it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbedded } from '../src/embedded/start.js';
import { binariesUnderTest } from '../test/support/cluster.js';

export interface BenchDatabase {
  readonly url: string;
  /** What the cluster is set to, where it is not the default. */
  readonly settings: Readonly<Record<string, string>>;
  readonly pool: pg.Pool;
  stop(): Promise<void>;
}

/**
 * Durable as by default; room for the log, so that no checkpoint falls into one contender's turn more than the other's.
 * Statements can be counted.
 */
const settings = { max_wal_size: '4GB', max_connections: '100', shared_preload_libraries: 'pg_stat_statements' };

/** On the Postgres that `TIDEMARK_TEST_POSTGRES` names, as for tests; `stock` is Debian's, with its default settings. */
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
 * Has all connections begin or stop to count their statements. While times are measured they do not: those with
 * constants in them would each be kept, and drive out others.
 */
export async function countStatements(pool: pg.Pool, isOn: boolean): Promise<void> {
  await pool.query(`alter system set pg_stat_statements.track = ${isOn ? 'top' : 'none'}`);
  await pool.query('select pg_reload_conf()');
  // A connection that is told so heeds it from its next statement on.
  await sleep(200);
}

/** The bench's own connections to a database: their statements are never counted. */
export async function connectTo(url: string, connections: number): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: url, max: connections, options: '-c pg_stat_statements.track=none' });
  // Its end does not wait for the connections, which the end of the cluster may then still break.
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

/** Of the tables whose writes are measured with capture and without. */
const captureSchema = `
  create table plain (id integer primary key, owner_id text not null, title text not null, note text not null);
  create table captured (like plain including all);`;

const rowsPerList = 100;

/** The user who sees so many todos: half of the lists are their own, half are shared with them. */
export function userOf(size: number): string {
  return `user${size}`;
}

/** The n-th todo, from 1, that the user of a size sees. */
export function todoOf(size: number, n: number): string {
  return `t${size}.${String(n).padStart(8, '0')}`;
}

export async function seed(pool: pg.Pool, sizes: readonly number[]): Promise<void> {
  await pool.query(captureSchema);
  await seedTodos(pool, sizes);
  await pool.query('checkpoint');
}

/** The tables of the application `todos`, and users who see so many todos. */
export async function seedTodos(pool: pg.Pool, sizes: readonly number[]): Promise<void> {
  await pool.query(todoSchema);
  for (const size of sizes) await addTodos(pool, size);
  await pool.query('vacuum analyze');
}

/** The user who sees so many todos, a multiple of 100. */
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

/** Users who all see one list, each besides nothing else. Returns their names. */
export async function addUsers(pool: pg.Pool, list: string, users: number): Promise<string[]> {
  const { rows } = await pool.query<{ user_id: string }>(
    `insert into share select $1, $1 || ' ' || n from generate_series(1, $2::integer) n returning user_id`,
    [list, users],
  );
  await pool.query('analyze share');
  return rows.map(({ user_id }) => user_id);
}
