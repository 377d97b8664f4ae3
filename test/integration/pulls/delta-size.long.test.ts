/** Changes so large that sending everything is cheaper. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isShort, keysWorthReset, sizeWorthReset } from '../../../packages/tidemark/src/pulls/reads/delta-size.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, fullRead, PullServer, SyncClient, textOf } from '../../support/synced.js';
import { WatchedDatabase } from './watched.js';

const itemsOf = (where: string) =>
  defineView({ query: () => ({ text: `select id, n from item where ${where}`, values: [] }), key: 'id', prefix: '' });
const views = { item: itemsOf(`owner = 'ada'`) };
/** Postgres estimates that finding these rows is very expensive. */
const expensive = { item: itemsOf(`owner = 'ada' and is_dear(id)`) };
/** Postgres estimates that these are few rows. */
const underestimated = { item: itemsOf(`owner = 'ada' and owner || '' = 'ada'`) };
/** Each row is a partition. */
const keyed = { item: itemsOf(`not exists (select from item o where o.id = -item.id)`) };

let database: TestDatabase;
const watched = new WatchedDatabase();
const servers: PullServer[] = [];

beforeAll(async () => {
  database = await createSynced(
    `create table item (id int primary key, owner text, n int);
     create function is_dear(int) returns boolean language plpgsql immutable cost 1000000 as 'begin return true; end'`,
    views,
  );
});
afterAll(() => database.drop());

beforeEach(async () => {
  await database.pool.query('truncate item');
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const run = (text: string) => database.pool.query(text);
const insert = (owner: string, from: number, to: number) =>
  run(`insert into item select i, '${owner}', 0 from generate_series(${from}, ${to}) i`);

async function start(of = views, consistencyChecks = 0): Promise<{ server: PullServer; client: SyncClient }> {
  const server = new PullServer(database.url, of, watched.watch, consistencyChecks);
  servers.push(server);
  await run('analyze item');
  const client = new SyncClient(server);
  await client.pull();
  watched.take();
  return { server, client };
}

const reasons = (server: PullServer) =>
  server.lines.lines.filter(({ message }) => message === 'The client is reset').map(({ fields }) => fields.reason);

describe('a pull', () => {
  it('resets the client after all of many rows change', async () => {
    await insert('ada', 1, 12_000);
    const { server, client } = await start();
    await run('update item set n = n + 1');
    const { patch } = await client.pull();
    expect(patch[0]).toEqual({ op: 'clear' });
    expect(patch).toHaveLength(12_001);
    expect(reasons(server)).toEqual(['size']);
    expect(client.held()).toEqual(await fullRead(server));
    expect((await client.pull()).patch).toEqual([]);
  });

  it('resets the client after more rows change than are counted at first', async () => {
    await insert('ada', 1, 252_000);
    const { server, client } = await start();
    await run('update item set n = n + 1 where id <= 51000');
    await client.pull();
    expect(reasons(server)).toEqual(['size']);
  }, 60_000);

  it('resets a client with few rows after many rows of others change', async () => {
    await insert('ben', 1, 12_000);
    await insert('ada', 20_001, 20_010);
    const { server, client } = await start();
    await run('update item set n = n + 1');
    expect((await client.pull()).patch).toHaveLength(11);
    expect(reasons(server)).toEqual(['size']);
  });

  it.each<[string, number, string, number]>([
    ['fewer rows change', 9_000, 'update item set n = n + 1', 9_000],
    ['a small part of the rows changes', 60_000, 'update item set n = n + 1 where id <= 11000', 11_000],
    [
      'a single row changes many times',
      100,
      'do $$ begin for i in 1..12000 loop update item set n = n + 1 where id = 7; end loop; end $$',
      1,
    ],
    ['an update changes nothing in many rows', 12_000, 'update item set n = n', 0],
  ])('sends a delta after %s', async (_, rows, change, ops) => {
    await insert('ada', 1, rows);
    const { server, client } = await start();
    await run(change);
    const { patch } = await client.pull();
    expect(patch).toHaveLength(ops);
    expect(patch.map(({ op }) => op)).not.toContain('clear');
    expect(reasons(server)).toEqual([]);
  });

  it.each([0, 1])('sends a delta if Postgres estimates too few rows (with a consistency check: %i)', async (checks) => {
    await insert('ada', 1, 60_000);
    const { server, client } = await start(underestimated, checks);
    await run('update item set n = n + 1 where id <= 11000');
    const { patch } = await client.pull();
    expect(patch).toHaveLength(11_000);
    expect(patch.map(({ op }) => op)).not.toContain('clear');
    expect(reasons(server)).toEqual([]);
  });

  it.each([0, 1])(
    'resets the client all the same if most rows change (with a consistency check: %i)',
    async (checks) => {
      await insert('ada', 1, 60_000);
      const { server, client } = await start(underestimated, checks);
      await run('update item set n = n + 1');
      await client.pull();
      expect(reasons(server)).toEqual(['size']);
      expect(client.held()).toEqual(await fullRead(server));
    },
  );

  it('resets the client after some rows of a keyed view change', async () => {
    await insert('ada', 1, 60_000);
    const { server, client } = await start(keyed);
    await run('update item set n = n + 1 where id <= 11000');
    await client.pull();
    expect(reasons(server)).toEqual(['size']);
    expect(client.held()).toEqual(await fullRead(server));
  });

  it('sends a delta after many rows change if finding all rows costs more', async () => {
    await insert('ada', 1, 12_000);
    const { server, client } = await start(expensive);
    await run('update item set n = n + 1');
    expect((await client.pull()).patch).toHaveLength(12_000);
    expect(reasons(server)).toEqual([]);
  });

  it.each([
    [99, 'delta'],
    [9_999, 'copy'],
  ])('reads no sizes after %i rows change', async (rows, kind) => {
    await insert('ada', 1, 12_000);
    const { client } = await start();
    await run(`update item set n = n + 1 where id <= ${rows}`);
    expect((await client.pull()).patch).toHaveLength(rows);
    expect(watched.take()).toEqual(['poll', 'probe', kind]);
  });

  it('reads two sizes before it resets a client that sees few of the changed rows', async () => {
    await insert('ben', 1, 12_000);
    await insert('ada', 20_001, 20_010);
    const { client } = await start();
    await run('update item set n = n + 1');
    expect((await client.pull()).patch).toHaveLength(11);
    // An estimate for the views, and enough changed keys to make a reset cheaper.
    expect(watched.take()).toEqual(['poll', 'probe', 'size', 'size', 'copy']);
  });
});

it('simultaneous pulls share the statements about sizes', async () => {
  await insert('ada', 1, 12_000);
  const { server, client } = await start();
  await run('update item set n = n + 1');
  const others = Array.from({ length: 20 }, () => new SyncClient(server));
  for (const other of others) other.cookie = client.cookie;
  await Promise.all(others.map((other) => other.pull()));
  expect(reasons(server)).toEqual(others.map(() => 'size'));
  const sizeStatements = watched.take().filter((kind) => kind === 'size');
  // An estimate for the views, and the number of changed keys.
  expect(sizeStatements.length).toBeLessThanOrEqual(3);
});

it('a long delta waits for a permit, as first pulls do, and a short delta does not', async () => {
  await insert('ada', 1, 11_000);
  const { server, client } = await start(expensive);
  const short = new SyncClient(server);
  short.cookie = client.cookie;
  // The server has three connections, and therefore two permits.
  const unread = await Promise.all([server.answer(null), server.answer(null)]);
  await run('update item set n = n + 1 where id <= 1000');
  expect((await short.pull()).patch).toHaveLength(1000);
  await run('update item set n = n + 1 where id > 1000');
  watched.take();
  const pulling = client.pull();
  const seen: string[] = [];
  while (seen.filter((kind) => kind === 'size').length < 2) {
    await sleep(20);
    seen.push(...watched.take());
  }
  // It has run all statements about the size. If it did not wait, it would copy immediately.
  await sleep(200);
  expect([...seen, ...watched.take()]).toEqual(['poll', 'probe', 'size', 'size']);
  await textOf(unread[0]!);
  expect((await pulling).patch).toHaveLength(11_000);
  expect(reasons(server)).toEqual([]);
  await textOf(unread[1]!);
});

it('a reset is worthwhile while the views are not much larger than the changes', () => {
  expect([0, 9_999, 10_000].map(isShort)).toEqual([true, true, false]);
  expect(sizeWorthReset(10_000, false)).toEqual({ rows: 50_000, cost: 80_000 });
  // Many partitions are more expensive.
  expect(sizeWorthReset(10_000, true)).toEqual({ rows: 200_000, cost: 320_000 });
  expect(sizeWorthReset(100, true)).toEqual(sizeWorthReset(100, false));
});

it.each([
  [1, false],
  [625, true],
  [10_000, false],
  [10_000, true],
  [1_000_000, true],
])('keysWorthReset inverts sizeWorthReset for %i keys (keyed: %s)', (keys, isKeyed) => {
  const size = sizeWorthReset(keys, isKeyed);
  expect(keysWorthReset(size, isKeyed)).toBe(keys);
  expect(keysWorthReset({ ...size, rows: 0 }, isKeyed)).toBe(keys);
  expect(keysWorthReset({ ...size, cost: 0 }, isKeyed)).toBe(keys);
  expect(keysWorthReset({ rows: 0, cost: 0 }, isKeyed)).toBe(1);
});
