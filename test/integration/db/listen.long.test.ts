import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { listenTo } from '../../../packages/tidemark/src/db/listen.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let pool: pg.Pool;
const onNotice = vi.fn();
const onDeaf = vi.fn();
const stops: (() => void)[] = [];

beforeAll(async () => {
  database = await createEmptyDatabase();
});

afterAll(() => database.drop());

beforeEach(() => {
  pool = new pg.Pool({ connectionString: database.url, max: 2, application_name: 'listener' });
  pool.on('error', () => {});
  onNotice.mockClear();
  onDeaf.mockClear();
});

afterEach(async () => {
  for (const stop of stops.splice(0)) stop();
  await pool.end();
});

function listen(channel: string): () => void {
  const stop = listenTo(pool, channel, onNotice, onDeaf);
  stops.push(stop);
  return stop;
}

const noticed = (times: number) =>
  vi.waitFor(() => expect(onNotice).toHaveBeenCalledTimes(times), { timeout: 5_000, interval: 10 });
const notify = () => database.pool.query('notify news');
const kill = () =>
  database.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener'`);

it('the callback is called for each notice, and after each connection and reconnection', async () => {
  listen('news');
  await noticed(1);
  await notify();
  await noticed(2);
  for (let times = 3; times <= 5; times += 2) {
    await kill();
    await noticed(times);
    await notify();
    await noticed(times + 1);
  }
});

it('a connection that cannot listen is released', async () => {
  const connected = vi.fn();
  pool.on('connect', connected);
  listen('no channel');
  await vi.waitFor(() => expect(connected).toHaveBeenCalled());
  await vi.waitFor(() => expect(pool.totalCount).toBe(0));
  // Then the listener tries another connection.
  await vi.waitFor(() => expect(connected).toHaveBeenCalledTimes(2), { timeout: 5_000 });
  expect(onNotice).not.toHaveBeenCalled();
});

it('after a stop at any time, the callback is not called and no connection is held', async () => {
  const stop = listen('news');
  await noticed(1);
  stop();
  listen('news')();
  await vi.waitFor(() => expect(pool.totalCount - pool.idleCount).toBe(0));
  await notify();
  await sleep(100);
  expect(onNotice).toHaveBeenCalledTimes(1);
});
