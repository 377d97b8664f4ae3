/** TRUNCATE keeps no versions of rows: it resets those whose views read the table, and nobody else. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { TestDatabase } from '../database.js';
import { createSynced, PullServer, SyncClient, tableView } from '../synced.js';
import { WatchedDatabase } from './watched.js';

const views = { near: tableView('near', 'id', 'near/'), far: tableView('far', 'id', 'far/') };

let database: TestDatabase;
const watched = new WatchedDatabase();
/** Of both tables, and of one of them. */
let both: PullServer;
let one: PullServer;

beforeAll(async () => {
  database = await createSynced('create table near (id int primary key); create table far (id int primary key)', views);
  both = new PullServer(database.url, views);
  one = new PullServer(database.url, { near: views.near }, watched.watch);
});
afterAll(async () => {
  await both.close();
  await one.close();
  await database.drop();
});
beforeEach(async () => {
  await run('delete from near; delete from far; insert into near values (1); insert into far values (1)');
  watched.take();
});

const run = (text: string) => database.pool.query(text);

it('resets those whose views read the table', async () => {
  const client = new SyncClient(both);
  await client.pull();
  await run('truncate far');
  expect((await client.pull()).patch[0]).toEqual({ op: 'clear' });
  expect(client.held()).toEqual({ 'near/1': { id: 1 } });
});

it('is no matter to others', async () => {
  const client = new SyncClient(one);
  const { cookie } = await client.pull();
  await run('truncate far');
  expect(await client.pull()).toEqual({ cookie, lastMutationIDChanges: {}, patch: [] });
});

it('is no matter to others either while their statement waits for something else', async () => {
  const holder = await database.pool.connect();
  await holder.query('begin; lock table near in access exclusive mode');
  const pulled = new SyncClient(one).pull();
  while ((await run(`select from pg_locks where not granted and relation = 'near'::regclass`)).rowCount === 0);
  await run('truncate far');
  await holder.query('commit');
  holder.release();
  expect((await pulled).patch).toEqual([{ op: 'put', key: 'near/1', value: { id: 1 } }]);
  expect(watched.take()).toEqual(['copy']);
});
