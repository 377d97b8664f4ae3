/** Pokes about the instances of views that a client wants. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Sync } from '../../../packages/tidemark/src/index.js';
import type { TestDatabase } from '../../support/database.js';
import { listenForPokes } from '../../support/poke-reader.js';
import { createTables, project, serve, type Want } from './served.js';

let database: TestDatabase;
let sync: Sync<{ userID: string }>;
beforeAll(async () => {
  database = await createTables();
  sync = await serve(database, { pokes: { intervalMs: 20 } });
});
afterAll(async () => {
  await sync.close();
  await database.drop();
});

function subscribe(user: string, wants: readonly Want[]) {
  const send = (path: string, init: RequestInit) => sync.fetch(new Request(`http://localhost${path}`, init));
  return listenForPokes(send, { user, wants });
}

it('a stream is poked about the instances in its body, and no others', async () => {
  const [ofFirst, ofSecond, ofNone] = [
    await subscribe('ann', [project('p1')]),
    await subscribe('ann', [project('p2'), { view: 'nothing', args: {} }]),
    await subscribe('ann', []),
  ];
  await Promise.all([ofFirst.poked(1), ofSecond.poked(1), ofNone.poked(1)]);
  await database.pool.query(`update issue set title = 'New' where id = 'i3'`);
  await ofFirst.poked(2);
  await database.pool.query(`update issue set title = 'New' where id = 'i1'`);
  await ofSecond.poked(2);
  await database.pool.query(`insert into project values ('p9', 'Nine')`);
  await Promise.all([ofFirst.poked(3), ofSecond.poked(3), ofNone.poked(2)]);
  await sleep(100);
  expect([ofFirst.pokes(), ofSecond.pokes(), ofNone.pokes()]).toEqual([3, 3, 2]);
  for (const stream of [ofFirst, ofSecond, ofNone]) stream.close();
});

it('a malformed body is refused', async () => {
  const response = await sync.fetch(
    new Request('http://localhost/sync/poke?clientGroupID=g&profileID=p', {
      method: 'POST',
      headers: { Authorization: 'ann', 'Content-Type': 'application/json' },
      body: '{"wants":7}',
    }),
  );
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'malformed-request', detail: 'wants must be an array' });
});
