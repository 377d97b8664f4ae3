/** What a client view with refusals costs, and what it costs those who do not ask. */
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

it('a first pull is one statement, a delta another, and a pull to which nothing has happened a look', async () => {
  await refuse(1);
  let { cookie, patch } = await server.pull(null, { refused: true });
  expect([watched.take(), patch.length]).toEqual([['copy'], 1]);
  // The first look begins the window.
  ({ cookie } = await server.pull(cookie, { refused: true }));
  watched.take();
  await refuse(2);
  ({ cookie, patch } = await server.pull(cookie, { refused: true }));
  expect([watched.take(), patch.length]).toEqual([['look', 'delta'], 1]);
  await server.pull(cookie, { refused: true });
  expect(watched.take()).toEqual(['look']);
});

it('a pull that does not ask reads nothing about them, at the same time or after', async () => {
  const { cookie } = await server.pull(null);
  await server.pull(cookie);
  watched.take();
  await refuse(3);
  expect(await server.pull(cookie)).toEqual({ cookie, lastMutationIDChanges: {}, patch: [] });
  expect(watched.take()).toEqual(['look']);
  const { cookie: asking } = await server.pull(null, { refused: true });
  await refuse(4);
  await database.pool.query(`insert into item values ('a')`);
  watched.statements.length = 0;
  const [told, silent] = await Promise.all([server.pull(asking, { refused: true }), server.pull(cookie)]);
  const keys = (answer: typeof told) => answer.patch.map((op) => op.op !== 'clear' && op.key).toSorted();
  expect([keys(told), keys(silent)]).toEqual([['item/a', 'tidemark/refused/c/4'], ['item/a']]);
  const deltas = watched.statements.filter(({ kind }) => kind === 'delta').map(({ text }) => text);
  expect(deltas.map((text) => text.includes('refusal')).toSorted()).toEqual([false, true]);
});
