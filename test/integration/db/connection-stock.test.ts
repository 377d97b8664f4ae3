/** Connections that several pools share. */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ConnectionStock, type StockedPool } from '../../../src/db/connection-stock.js';
import { isTransient } from '../../../src/db/sqlstate.js';
import { createEmptyDatabase, type TestDatabase, untilWaiting } from '../../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

const most = 12;
let stock: ConnectionStock;
let pools: StockedPool[];
beforeEach(() => {
  stock = new ConnectionStock(most);
  pools = [];
});
afterEach(() => Promise.all(pools.filter(({ ending }) => !ending).map((pool) => pool.end())));

function createPool(options: pg.PoolConfig = {}): StockedPool {
  const pool = stock.createPool({
    connectionString: database.url,
    max: 10,
    connectionTimeoutMillis: 5_000,
    application_name: 'stocked',
    ...options,
  });
  pools.push(pool.on('error', () => {}));
  return pool;
}

/** Of those, how many there are for Postgres. */
async function connections(): Promise<number> {
  const { rows } = await database.pool.query(
    `select count(*)::int from pg_stat_activity where application_name = 'stocked'`,
  );
  return rows[0].count;
}

/** Takes connections until there are no more for the pool. */
async function takeAll(pool: StockedPool): Promise<pg.PoolClient[]> {
  const taken: pg.PoolClient[] = [];
  while (stock.admits(pool)) taken.push(await pool.connect());
  return taken;
}

it('serves everyone, and never has more connections than there are', async () => {
  for (let i = 0; i < 30; i++) createPool();
  let most = 0;
  const watching = { isOver: false };
  const watch = (async () => {
    while (!watching.isOver) most = Math.max(most, await connections());
  })();
  const queries = pools.flatMap((pool) => Array.from({ length: 10 }, () => pool.query('select pg_sleep(0.001)')));
  await Promise.all(queries);
  watching.isOver = true;
  await watch;
  expect(stock.usage().total).toBeLessThanOrEqual(12);
  // A connection that closes is counted by Postgres for a moment longer.
  expect(most).toBeLessThanOrEqual(24);
});

it('leaves some to others, whoever takes much and keeps it', async () => {
  const greedy = [createPool(), createPool(), createPool()];
  const taken = [];
  for (const pool of greedy) taken.push(...(await takeAll(pool)));
  const held = greedy.map(({ totalCount }) => totalCount);
  expect(Math.max(...held)).toBeLessThanOrEqual(3);
  for (let i = 0; i < 20; i++) {
    const pool = createPool();
    await pool.query('select 1');
    await pool.end();
  }
  expect(taken.length).toBeLessThan(most);
  for (const client of taken) client.release();
});

it('opens one connection of a pool at a time, and meanwhile makes do with those that it has', async () => {
  const pool = createPool();
  let [opened, connecting] = [0, 0];
  pool.on('connect', () => {
    connecting = Math.max(connecting, pool.totalCount - opened);
    opened++;
  });
  await Promise.all(Array.from({ length: 100 }, () => pool.query('select 1')));
  expect(connecting).toBe(1);
  await Promise.all(Array.from({ length: 3 }, () => pool.query('select pg_sleep(0.2)')));
  expect(opened).toBeGreaterThanOrEqual(3);
});

it('closes the connection that has been idle for longest where another is needed', async () => {
  for (let i = 0; i < most; i++) await createPool().query('select 1');
  expect(stock.usage()).toEqual({ total: most, idle: most });
  await pools[0]!.query('select 1');
  await createPool().query('select 1');
  expect(pools.map(({ totalCount }) => totalCount)).toEqual([1, 0, ...Array<number>(most - 1).fill(1)]);
});

it('has those wait who find none, until one is given back', async () => {
  const holders = await Promise.all(Array.from({ length: most }, () => createPool().connect()));
  const late = createPool();
  const waiting = late.query('select 7 as n');
  await vi.waitFor(() => expect(stock.waiting).toBe(1));
  holders.pop()!.release();
  expect((await waiting).rows).toEqual([{ n: 7 }]);
  expect(stock.waiting).toBe(0);
  for (const client of holders) client.release();
});

it('gives those a turn who have none, before those who have some', async () => {
  const holders = await Promise.all(Array.from({ length: most }, () => createPool().connect()));
  const order: string[] = [];
  const asks = (pool: pg.Pool, name: string) => pool.query('select 1').then(() => order.push(name));
  const own = asks(pools[0]!, 'has one');
  const late = asks(createPool(), 'has none');
  await vi.waitFor(() => expect(stock.waiting).toBe(2));
  holders[1]!.release();
  await late;
  holders[0]!.release();
  await own;
  expect(order).toEqual(['has none', 'has one']);
  for (const client of holders.slice(2)) client.release();
});

it('lets nobody wait for ever', async () => {
  const holders = await Promise.all(Array.from({ length: most }, () => createPool().connect()));
  const failure: unknown = await createPool({ connectionTimeoutMillis: 50 })
    .query('select 1')
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: 'No connection became free in time' });
  expect(isTransient(failure)).toBe(true);
  expect(stock.waiting).toBe(0);
  for (const client of holders) client.release();
});

it('gets back what could not connect, what broke and what was closed', async () => {
  const dead = createPool({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
  const refused = await Promise.allSettled(Array.from({ length: 30 }, () => dead.query('select 1')));
  expect(refused.every(({ status }) => status === 'rejected')).toBe(true);
  const pool = createPool();
  const broken = await pool.connect();
  broken.on('error', () => {});
  await expect(broken.query('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow();
  broken.release(true);
  const closed = createPool();
  await closed.query('select 1');
  await closed.end();
  await vi.waitFor(() => expect(stock.usage().total).toBe(0));
});

it('tells those who wait when their pool is closed', async () => {
  const holders = await Promise.all(Array.from({ length: most }, () => createPool().connect()));
  const pool = createPool();
  const waiting = pool.query('select 1');
  await vi.waitFor(() => expect(stock.waiting).toBe(1));
  const ended = pool.end();
  await expect(waiting).rejects.toThrow('being closed');
  await ended;
  await expect(pool.connect()).rejects.toThrow('after calling end');
  for (const client of holders) client.release();
});

it('breaks off what hangs', async () => {
  const pool = createPool();
  const holder = await database.pool.connect();
  await holder.query('select pg_advisory_lock(1)');
  const client = await pool.connect();
  client.on('error', () => {});
  const hanging = client.query('select pg_advisory_lock(1)');
  await untilWaiting(database.pool, 1);
  pool.breakOff();
  await expect(hanging).rejects.toThrow();
  client.release(true);
  await vi.waitFor(async () => expect(await connections()).toBe(0));
  await holder.query('select pg_advisory_unlock(1)');
  holder.release();
});
