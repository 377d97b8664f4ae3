/** TRUNCATE keeps no row versions, so it resets clients whose views read the table, and no other clients. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type TestDatabase, untilWaiting } from '../../support/database.js';
import { createSynced, PullServer, SyncClient, tableView } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

const views = { near: tableView('near', 'id', 'near/'), far: tableView('far', 'id', 'far/') };

let database: TestDatabase;
const watched = new WatchedDatabase();
/** Servers for both tables, and for one of them. */
let both: PullServer;
let one: PullServer;

beforeAll(async () => {
  database = await createSynced('create table near (id int primary key); create table far (id int primary key)', views);
  both = new PullServer(database.url, views, watched.watch);
  one = new PullServer(database.url, { near: views.near }, watched.watch);
  // From then on, the servers have analyzed the views, and only their pulls wait for tables.
  for (const server of [both, one]) await server.pull(null);
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

/** Makes a first pull wait while something is written that it has not seen. */
async function pullAcross(server: PullServer, locking: string, concurrently = 'select 1'): Promise<SyncClient> {
  const holder = await database.pool.connect();
  await holder.query(`begin; ${locking}`);
  const client = new SyncClient(server);
  const pulling = client.pull();
  await untilWaiting(database.pool, 1, '%copy%');
  await run(concurrently);
  await holder.query('commit');
  holder.release();
  await pulling;
  return client;
}

it('TRUNCATE resets clients whose views read the table', async () => {
  const client = new SyncClient(both);
  await client.pull();
  await run('truncate far');
  expect((await client.pull()).patch[0]).toEqual({ op: 'clear' });
  expect(client.held()).toEqual({ 'near/1': { id: 1 } });
});

it('a first pull that waited for a TRUNCATE reads everything again in one snapshot', async () => {
  const client = await pullAcross(both, 'truncate near; insert into far values (2)');
  expect(client.held()).toEqual({ 'far/1': { id: 1 }, 'far/2': { id: 2 } });
  expect(watched.take()).toEqual(['copy', 'copy']);
});

it.each<[name: string, statements: string, isReset: boolean]>([
  ['of a table without rows resets no client', 'truncate near', false],
  [
    'after a DELETE in the same transaction resets no client',
    'begin; insert into near values (3); delete from near; truncate near; commit',
    false,
  ],
  ['of rows of the same transaction resets clients', 'begin; insert into near values (3); truncate near; commit', true],
  [
    'in a transaction whose snapshot may be too early resets clients',
    'begin isolation level repeatable read; truncate near; commit',
    true,
  ],
])('TRUNCATE %s', async (_, statements, isReset) => {
  const client = new SyncClient(both);
  await client.pull();
  await run('delete from near');
  await run(statements);
  await run('insert into near values (1), (4)');
  const { patch } = await client.pull();
  expect(patch[0]?.op === 'clear').toBe(isReset);
  expect(client.held()).toEqual({ 'near/1': { id: 1 }, 'near/4': { id: 4 }, 'far/1': { id: 1 } });
});

it('TRUNCATE resets clients even if the owner may not read the table', async () => {
  const client = new SyncClient(both);
  await client.pull();
  const {
    rows: [{ owner }],
  } = await run('select current_user as owner');
  await run(`revoke select on far from ${owner}; truncate far; grant select on far to ${owner}`);
  expect((await client.pull()).patch[0]).toEqual({ op: 'clear' });
  expect(client.held()).toEqual({ 'near/1': { id: 1 } });
});

it('TRUNCATE does not affect clients that do not read the table', async () => {
  const client = new SyncClient(one);
  const { cookie } = await client.pull();
  await run('truncate far');
  expect(await client.pull()).toEqual({ cookie, lastMutationIDChanges: {}, patch: [] });
});

it('TRUNCATE does not affect other clients while their statement waits for another table', async () => {
  const client = await pullAcross(one, 'lock table near in access exclusive mode', 'truncate far');
  expect(client.held()).toEqual({ 'near/1': { id: 1 } });
  expect(watched.take()).toEqual(['copy']);
});
