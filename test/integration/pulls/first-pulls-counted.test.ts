/** Reads of large tables by the first pull of a user who sees few of their rows. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, PullServer } from '../../support/synced.js';

const visible = (userID: string) =>
  sql`owner_id = ${userID} or id in (select list_id from share where user_id = ${userID})`;
const views: Views<Context> = {
  list: defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx }) => sql`select id, owner_id from list where ${visible(ctx.userID)}`,
  }),
  todo: defineView<{ id: string }>({
    key: 'id',
    query: ({ ctx }) => sql`select * from todo where list_id in (select id from list where ${visible(ctx.userID)})`,
  }),
};

const lists = 5000;
let database: TestDatabase;
let pool: pg.Pool;
let server: PullServer;
beforeAll(async () => {
  const ddl = `
    create table list (id text primary key, owner_id text);
    create index on list (owner_id);
    create table share (list_id text, user_id text, primary key (list_id, user_id));
    create index on share (user_id);
    create table todo (id text primary key, list_id text);
    create index on todo (list_id)`;
  database = await createSynced(ddl, views);
  await database.pool.query(`
    insert into list select 'l' || n, 'user' || n from generate_series(1, ${lists}) n;
    insert into share select 'l' || n, 'user' || n + 1 from generate_series(1, ${lists}) n;
    insert into todo select 't' || n, 'l' || 1 + n % ${lists} from generate_series(1, ${10 * lists}) n`);
  await database.pool.query('analyze');
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
  server = new PullServer(pool, views);
  // Reads the schema of the tables beforehand.
  await server.pull(null, {}, 'nobody');
});
afterAll(async () => {
  await server.close();
  await pool.end();
  await database.drop();
});

async function rowsRead(): Promise<Record<string, number>> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ name: string; read: string }>(
    `select relname as name, seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables
     where schemaname = 'public' order by 1`,
  );
  return Object.fromEntries(rows.map(({ name, read }) => [name, Number(read)]));
}

it('a first pull reads few rows besides those that the user sees', async () => {
  const before = await rowsRead();
  const { patch } = await server.pull(null, {}, 'user7');
  expect(patch.map((op) => op.op === 'put' && op.key.split('/')[0])).toEqual([
    ...Array(2).fill('list'),
    ...Array(20).fill('todo'),
  ]);
  const after = await rowsRead();
  const read = (name: string) => after[name]! - before[name]!;
  expect(read('todo')).toBe(20);
  // For both views, in part through one index and again through another.
  expect(read('list')).toBeLessThan(20);
  expect(read('share')).toBeLessThan(20);
});
