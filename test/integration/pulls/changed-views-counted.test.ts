/** The cost of a change of one view among many. */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, PullServer, SyncClient, tableView } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

const large = tableView('large', 'id', 'large/');
const small = tableView('small', 'id', 'small/');
/** The list that the user sees. */
let list = 1;
const item = defineView<{ id: number }>({
  key: 'id',
  query: () => sql`select id, list from item where list = ${list}`,
});

let database: TestDatabase;
let pool: pg.Pool;
const servers: PullServer[] = [];

beforeAll(async () => {
  database = await createSynced(
    `create table large (id int primary key); create table small (id int primary key);
    create table item (id int primary key, list int not null); create index on item (list)`,
    { large, small, item },
  );
  await database.pool.query(`
    insert into large select generate_series(1, 20000); insert into small select generate_series(1, 3);
    insert into item select n, n % 1000 from generate_series(1, 5000) n`);
  await database.pool.query('analyze');
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await pool.end();
  await database.drop();
});

function serve(views: Views<Context>): { server: PullServer; watched: WatchedDatabase } {
  const watched = new WatchedDatabase();
  const server = new PullServer(pool, views, watched.watch);
  servers.push(server);
  return { server, watched };
}

async function rowsRead(table: string): Promise<number> {
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query<{ read: string }>(
    'select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables where relname = $1',
    [table],
  );
  return Number(rows[0]!.read);
}

it('a deployment reads no row of unchanged views, and all others in one statement', async () => {
  const client = new SyncClient(serve({ large, small }).server);
  await client.pull();
  const { server, watched } = serve({ large, item });
  // Reads the schema of the tables beforehand.
  await server.pull(null, {}, 'nobody');
  watched.take();
  const before = await rowsRead('large');
  const { patch } = await client.pull(server);
  expect(patch.map(({ op }) => op).sort()).toEqual([...Array(3).fill('del'), ...Array(5).fill('put')]);
  expect(await rowsRead('large')).toBe(before);
  // The cache has no record of the client group.
  expect(watched.take()).toEqual(['poll', 'probe', 'copy']);
});

it('a new parameter reads only the old and new rows, by an index, and sends them once', async () => {
  list = 7;
  const { server, watched } = serve({ large, item });
  const client = new SyncClient(server);
  await client.pull();
  watched.take();
  const [large_, item_] = [await rowsRead('large'), await rowsRead('item')];
  list = 8;
  const { patch } = await client.pull();
  expect(patch.map(({ op }) => op).sort()).toEqual([...Array(5).fill('del'), ...Array(5).fill('put')]);
  expect([await rowsRead('large'), await rowsRead('item')]).toEqual([large_, item_ + 10]);
  expect(watched.take()).toEqual(['poll', 'probe', 'copy']);
  expect((await client.pull()).patch).toEqual([]);
  expect(watched.take()).not.toContain('copy');
});
