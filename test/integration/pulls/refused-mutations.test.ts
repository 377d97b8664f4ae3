/** The cost of a client view with refusals, also for clients that do not request them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, PullServer, tableView } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

const views = { item: tableView('item', 'id', 'item/') };

let database: TestDatabase;
let watched: WatchedDatabase;
let server: PullServer;
beforeAll(async () => {
  database = await createSynced('create table item (id text primary key)', views);
  watched = new WatchedDatabase();
  server = new PullServer(database.url, views, watched.watch);
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

const refuse = (id: number) =>
  database.pool.query(
    `insert into tidemark.refusal (user_id, profile_id, client_id, mutation_id, code) values ('ada', 'profile', 'c', $1, 'internal')`,
    [id],
  );

it('refusals add no statement to a first pull, a delta or an unchanged pull', async () => {
  await refuse(1);
  let { cookie, patch } = await server.pull(null, { refused: true });
  expect([watched.take(), patch.length]).toEqual([['copy'], 1]);
  // The first poll starts the cache.
  ({ cookie } = await server.pull(cookie, { refused: true }));
  watched.take();
  await refuse(2);
  ({ cookie, patch } = await server.pull(cookie, { refused: true }));
  expect([watched.take(), patch.length]).toEqual([['poll', 'delta'], 1]);
  await server.pull(cookie, { refused: true });
  expect(watched.take()).toEqual(['poll']);
});

it('a pull that requests no refusals reads none, even together with one that does', async () => {
  const { cookie } = await server.pull(null);
  await server.pull(cookie);
  watched.take();
  await refuse(3);
  expect(await server.pull(cookie)).toEqual({ cookie, lastMutationIDChanges: {}, patch: [] });
  expect(watched.take()).toEqual(['poll']);
  const { cookie: requestingCookie } = await server.pull(null, { refused: true });
  await refuse(4);
  await database.pool.query(`insert into item values ('a')`);
  watched.statements.length = 0;
  const [withRefusals, without] = await Promise.all([
    server.pull(requestingCookie, { refused: true }),
    server.pull(cookie),
  ]);
  const keys = (answer: typeof without) => answer.patch.map((op) => op.op !== 'clear' && op.key).toSorted();
  expect([keys(withRefusals), keys(without)]).toEqual([['item/a', 'tidemark/refused/c/4'], ['item/a']]);
  const deltas = watched.statements.filter(({ kind }) => kind === 'delta').map(({ text }) => text);
  expect(deltas.map((text) => text.includes('refusal')).toSorted()).toEqual([false, true]);
});
