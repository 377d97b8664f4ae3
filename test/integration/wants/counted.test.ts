/** The cost of wanting other instances, as rows that Postgres reads. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { createSync, defineView, migrate, type Sync, sql } from '../../../packages/tidemark/src/index.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { WantingClient } from './served.js';

const views = {
  issue: defineView({
    args: z.object({ project: z.int() }),
    query: ({ args }) => sql<{ id: number }>`select id, project, title from issue where project = ${args.project}`,
    key: 'id',
  }),
};
const perProject = 1000;
const want = (project: number) => ({ view: 'issue', args: { project } });

let database: TestDatabase;
let pool: pg.Pool;
let sync: Sync<{ userID: string }>;
beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(`
    create table issue (id integer primary key, project integer not null, title text not null);
    create index on issue (project);
    insert into issue select n, n % 110, 'Issue ' || n from generate_series(0, ${110 * perProject - 1}) n`);
  await database.pool.query('vacuum analyze issue');
  await migrate({ database: database.url, views, log: silent });
  // One connection, so that its statistics are complete once it has flushed them.
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
  sync = await createSync({ database: pool, views, log: silent, authenticate: () => ({ userID: 'ann' }) });
}, 60_000);
afterAll(async () => {
  await sync.close();
  await pool.end();
  await database.drop();
});

async function rowsRead(): Promise<number> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ read: string }>(
    `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables where relname = 'issue'`,
  );
  return Number(rows[0]!.read);
}

/** The rows that a pull reads, and the number of its ops. */
async function costOf(
  pull: () => Promise<{ readonly patch: readonly unknown[] }>,
): Promise<{ read: number; ops: number }> {
  const before = await rowsRead();
  const { patch } = await pull();
  return { read: (await rowsRead()) - before, ops: patch.length };
}

it('the 101st instance is read alone, and letting go of it reads its keys', async () => {
  const client = new WantingClient(sync);
  const hundred = Array.from({ length: 100 }, (_, i) => want(i));
  await client.pull(hundred);
  expect(client.rows.size).toBe(100 * perProject);
  expect(await costOf(() => client.pull([...hundred, want(100)]))).toEqual({ read: perProject, ops: perProject });
  expect(await costOf(() => client.pull([...hundred, want(100)]))).toEqual({ read: 0, ops: 0 });

  const removed = await costOf(() => client.pull(hundred));
  expect(removed.ops).toBe(perProject);
  // Each of its keys, and whether another instance has the row.
  expect(removed.read).toBeLessThanOrEqual(2 * perProject);
}, 60_000);

it('a change that one of a hundred instances shows reads what it reads with one instance', async () => {
  const hundred = Array.from({ length: 100 }, (_, i) => want(i));
  const cost = async (wants: readonly ReturnType<typeof want>[], name: string, id: number) => {
    const client = new WantingClient(sync, name);
    await client.pull(wants);
    await database.pool.query(`update issue set title = title || '!' where id = $1`, [id]);
    return costOf(() => client.pull(wants));
  };
  const one = await cost([want(7)], 'one', 7);
  expect(one.ops).toBe(1);
  expect(await cost(hundred, 'hundred', 8)).toEqual(one);
}, 60_000);
