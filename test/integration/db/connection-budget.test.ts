/** A connection budget that several pools share. */
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { type BudgetedPool, ConnectionBudget } from '../../../packages/tidemark/src/db/connection-budget.js';
import { isTransient } from '../../../packages/tidemark/src/db/sqlstate.js';
import { createEmptyDatabase, type TestDatabase, untilWaiting } from '../../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

const maxConnections = 12;
let budget: ConnectionBudget;
let pools: BudgetedPool[];
beforeEach(() => {
  budget = new ConnectionBudget(maxConnections);
  pools = [];
});
afterEach(() => Promise.all(pools.filter(({ ending }) => !ending).map((pool) => pool.end())));

function createPool(options: pg.PoolConfig = {}): BudgetedPool {
  const pool = budget.createPool({
    connectionString: database.url,
    max: 10,
    connectionTimeoutMillis: 5_000,
    application_name: 'stocked',
    ...options,
  });
  pools.push(pool.on('error', () => {}));
  return pool;
}

/** The number of these connections that Postgres counts. */
async function connections(): Promise<number> {
  const { rows } = await database.pool.query(
    `select count(*)::int from pg_stat_activity where application_name = 'stocked'`,
  );
  return rows[0].count;
}

/** Takes connections until the pool gets no more. */
async function takeAll(pool: BudgetedPool): Promise<pg.PoolClient[]> {
  const taken: pg.PoolClient[] = [];
  while (budget.admits(pool)) taken.push(await pool.connect());
  return taken;
}

it('serves all pools without more connections than allowed', async () => {
  for (let i = 0; i < 30; i++) createPool();
  let highest = 0;
  const watching = { isOver: false };
  const watch = (async () => {
    while (!watching.isOver) highest = Math.max(highest, await connections());
  })();
  const queries = pools.flatMap((pool) => Array.from({ length: 10 }, () => pool.query('select pg_sleep(0.001)')));
  await Promise.all(queries);
  watching.isOver = true;
  await watch;
  expect(budget.usage().total).toBeLessThanOrEqual(12);
  // Postgres counts a closing connection for a moment longer.
  expect(highest).toBeLessThanOrEqual(24);
});

it('leaves connections to other pools, however many some pools take and keep', async () => {
  const greedy = [createPool(), createPool(), createPool()];
  const taken = [];
  for (const pool of greedy) taken.push(...(await takeAll(pool)));
  const counts = greedy.map(({ totalCount }) => totalCount);
  expect(Math.max(...counts)).toBeLessThanOrEqual(3);
  for (let i = 0; i < 20; i++) {
    const pool = createPool();
    await pool.query('select 1');
    await pool.end();
  }
  expect(taken.length).toBeLessThan(maxConnections);
  for (const client of taken) client.release();
});

it('opens one connection of a pool at a time, and uses the existing ones during that time', async () => {
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

it('closes the connection that has been idle longest when another one is needed', async () => {
  for (let i = 0; i < maxConnections; i++) await createPool().query('select 1');
  expect(budget.usage()).toEqual({ total: maxConnections, idle: maxConnections });
  await pools[0]!.query('select 1');
  await createPool().query('select 1');
  expect(pools.map(({ totalCount }) => totalCount)).toEqual([1, 0, ...Array<number>(maxConnections - 1).fill(1)]);
});

it('lets a pool wait for a connection until one is released', async () => {
  const holders = await Promise.all(Array.from({ length: maxConnections }, () => createPool().connect()));
  const late = createPool();
  const waiting = late.query('select 7 as n');
  await vi.waitFor(() => expect(budget.waiting).toBe(1));
  holders.pop()!.release();
  expect((await waiting).rows).toEqual([{ n: 7 }]);
  expect(budget.waiting).toBe(0);
  for (const client of holders) client.release();
});

it('serves waiting pools without a connection before those that have one', async () => {
  const holders = await Promise.all(Array.from({ length: maxConnections }, () => createPool().connect()));
  const order: string[] = [];
  const queryOn = (pool: pg.Pool, name: string) => pool.query('select 1').then(() => order.push(name));
  const own = queryOn(pools[0]!, 'has one');
  const late = queryOn(createPool(), 'has none');
  await vi.waitFor(() => expect(budget.waiting).toBe(2));
  holders[1]!.release();
  await late;
  holders[0]!.release();
  await own;
  expect(order).toEqual(['has none', 'has one']);
  for (const client of holders.slice(2)) client.release();
});

it('limits how long a pool waits for a connection', async () => {
  const holders = await Promise.all(Array.from({ length: maxConnections }, () => createPool().connect()));
  const failure: unknown = await createPool({ connectionTimeoutMillis: 50 })
    .query('select 1')
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ message: 'No connection became free in time' });
  expect(isTransient(failure)).toBe(true);
  expect(budget.waiting).toBe(0);
  for (const client of holders) client.release();
});

it('regains connections that could not be opened, broke or were closed', async () => {
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
  await vi.waitFor(() => expect(budget.usage().total).toBe(0));
});

it('rejects waiting queries when their pool is closed', async () => {
  const holders = await Promise.all(Array.from({ length: maxConnections }, () => createPool().connect()));
  const pool = createPool();
  const waiting = pool.query('select 1');
  await vi.waitFor(() => expect(budget.waiting).toBe(1));
  const ended = pool.end();
  await expect(waiting).rejects.toThrow('being closed');
  await ended;
  await expect(pool.connect()).rejects.toThrow('after calling end');
  for (const client of holders) client.release();
});

it('closes connections whose statements hang when a pool breaks off', async () => {
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
