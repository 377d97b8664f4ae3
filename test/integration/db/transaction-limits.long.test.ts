/** No transaction holds a connection or a lock for long. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { isTransient } from '../../../packages/tidemark/src/db/sqlstate.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let db: Database;
const limits = { transactionMs: 500, lockMs: 200, statementMs: 300 };

beforeAll(async () => {
  database = await createTestDatabase();
  db = openPool(database.url, { max: 2, limits });
  await database.pool.query('create table counter (id int primary key, n int); insert into counter values (1, 0)');
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const openTransactions = async () => {
  const { rowCount } = await database.pool.query(
    'select from pg_stat_activity where xact_start is not null and datname = current_database() and pid <> pg_backend_pid()',
  );
  return rowCount;
};
const increment = 'update counter set n = n + 1';

it.each([
  ['hangs', () => new Promise<never>(() => {})],
  [
    'sleeps in the database',
    (client: { query(text: string): Promise<unknown> }) => client.query('select pg_sleep(60)'),
  ],
  [
    'holds a row',
    async (client: { query(text: string): Promise<unknown> }) => {
      await client.query(increment);
      await sleep(60_000, undefined, { ref: false });
    },
  ],
])('work that %s is rolled back after the limit, and its locks are released', async (_, work) => {
  const before = await database.pool.query('select n from counter');
  const results = await Promise.allSettled([db.transact(work), db.transact(work)]);
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected' });
    expect(isTransient((result as PromiseRejectedResult).reason)).toBe(true);
  }
  await vi.waitFor(async () => expect(await openTransactions()).toBe(0));
  expect((await database.pool.query('select n from counter')).rows).toEqual(before.rows);
  await expect(db.transact((client) => client.query('select 1 as one'))).resolves.toMatchObject({ rowCount: 1 });
});

it('work that continues after its transaction was given up can write nothing', async () => {
  let late: Promise<unknown> | undefined;
  const work = db.transact(async (client) => {
    late = sleep(limits.transactionMs + 200).then(() => client.query(increment));
    late.catch(() => {});
    await late;
  });
  await expect(work).rejects.toThrow('500 ms');
  await expect(late).rejects.toThrow();
});

it('a transaction waits for a lock only briefly, and its failure is transient', async () => {
  const holder = await database.pool.connect();
  await holder.query(`begin; ${increment}`);
  const failure = await db.transact((client) => client.query(increment)).catch((error: unknown) => error);
  await holder.query('rollback');
  holder.release();
  expect(failure).toMatchObject({ code: '55P03' });
  expect(isTransient(failure)).toBe(true);
});

it('Postgres itself has timeouts for the transactions of a process that hangs', async () => {
  const text = `select current_setting('idle_in_transaction_session_timeout') as idle,
    current_setting('lock_timeout') as lock`;
  const { rows } = await db.transact((client) => client.query(text));
  expect(rows).toEqual([{ idle: '1500ms', lock: '200ms' }]);
  expect(await db.query({ text })).toEqual([{ idle: '0', lock: '0' }]);
});

it('a retry that hangs does not delay another one for long', async () => {
  const patient = openPool(database.url, { max: 4 });
  const conflict = () => Object.assign(new Error('conflict'), { code: '40001' });
  const end = new AbortController();
  let attempts = 0;
  const hanging = patient.transact(async () => {
    if (++attempts <= 2) throw conflict();
    await sleep(30_000, undefined, { signal: end.signal });
  });
  await vi.waitFor(() => expect(attempts).toBe(3));
  let others = 0;
  const started = performance.now();
  await patient.transact(async () => {
    if (++others <= 2) throw conflict();
  });
  expect(performance.now() - started).toBeLessThan(5_000);
  expect(others).toBe(3);
  end.abort();
  await expect(hanging).rejects.toThrow('abort');
  await patient.close();
});

it('retries take turns, however many wait', async () => {
  await database.pool.query('create table hot (n int); insert into hot values (0)');
  const patient = openPool(database.url, { max: 20, connectionTimeoutMs: 60_000 });
  try {
    let running = 0;
    let maxRunning = 0;
    const write = (attempts = { made: 0 }) =>
      patient.transact(async (client) => {
        attempts.made++;
        if (attempts.made > 2) maxRunning = Math.max(maxRunning, ++running);
        try {
          await client.query('update hot set n = n + 1');
          await sleep(50);
        } finally {
          if (attempts.made > 2) running--;
        }
      });
    await Promise.all(Array.from({ length: 50 }, () => write()));
    expect((await database.pool.query('select n from hot')).rows).toEqual([{ n: 50 }]);
    // On a slow machine, one turn may last until the next one begins.
    expect(maxRunning).toBeLessThan(8);
  } finally {
    await patient.close();
  }
}, 60_000);
