import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Statement } from '../../../packages/tidemark/src/db/database.js';
import { claimKey, pruneAnswers, storeAnswer } from '../../../packages/tidemark/src/store/idempotency-keys.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, wholeTable } from '../../support/synced.js';

let database: TestDatabase;
let clients: pg.Client[];

beforeAll(async () => {
  database = await createSynced('create table t (id int primary key)', wholeTable('t'));
  clients = [new pg.Client(database.url), new pg.Client(database.url)];
  await Promise.all(clients.map((client) => client.connect()));
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await database.drop();
});
beforeEach(() => database.pool.query('truncate tidemark.idempotency_key'));

type Query = (statement: Statement) => Promise<unknown[]>;

const hour = 3600;
const key = { userID: 'ann', key: 'k' };
const none = [{ locked: true, fingerprint: null, answer: null }];
const answered = { fingerprint: 'f', answer: '{"ok":true}' };

/** Runs work in a transaction on one of two connections. */
async function inTransaction<T>(index: number, work: (query: Query) => Promise<T>, end = 'commit'): Promise<T> {
  const client = clients[index]!;
  await client.query('begin isolation level repeatable read');
  try {
    return await work(async ({ text, values = [] }) => (await client.query(text, [...values])).rows);
  } finally {
    await client.query(end);
  }
}

it('an answer is stored for its user and key if its transaction commits', async () => {
  await inTransaction(0, (query) => query(storeAnswer(key, answered)), 'rollback');
  await inTransaction(0, async (query) => expect(await query(claimKey(key, hour))).toEqual(none));
  await inTransaction(0, (query) => query(storeAnswer(key, answered)));
  await inTransaction(1, async (query) => {
    expect(await query(claimKey(key, hour))).toEqual([{ locked: true, ...answered }]);
    expect(await query(claimKey({ ...key, userID: 'ben' }, hour))).toEqual(none);
    expect(await query(claimKey({ ...key, key: 'K' }, hour))).toEqual(none);
  });
});

it('a key is locked by one transaction at a time, for each user by itself', async () => {
  await inTransaction(0, async (query) => {
    expect(await query(claimKey(key, hour))).toEqual(none);
    await inTransaction(1, async (another) => {
      expect(await another(claimKey(key, hour))).toMatchObject([{ locked: false }]);
      expect(await another(claimKey({ ...key, userID: 'ben' }, hour))).toEqual(none);
    });
  });
  await inTransaction(1, async (query) => expect(await query(claimKey(key, hour))).toEqual(none));
});

it('an answer that is older than the retention is ignored and can be replaced', async () => {
  await inTransaction(0, (query) => query(storeAnswer(key, answered)));
  await database.pool.query(`update tidemark.idempotency_key set created_at = now() - interval '1 hour 1 second'`);
  const later = { fingerprint: 'g', answer: '{"ok":false}' };
  await inTransaction(0, async (query) => {
    expect(await query(claimKey(key, hour))).toEqual(none);
    await query(storeAnswer(key, later));
  });
  await inTransaction(0, (query) => pruneAnswers((text, values) => query({ text, values }), hour));
  await inTransaction(0, async (query) =>
    expect(await query(claimKey(key, hour))).toEqual([{ locked: true, ...later }]),
  );
});

it('only answers that are older than the retention are deleted', async () => {
  await inTransaction(0, (query) => query(storeAnswer({ ...key, key: 'old' }, answered)));
  await database.pool.query(`update tidemark.idempotency_key set created_at = now() - interval '1 hour 1 second'`);
  await inTransaction(0, (query) => query(storeAnswer(key, answered)));
  await inTransaction(0, (query) => pruneAnswers((text, values) => query({ text, values }), hour));
  expect((await database.pool.query('select key from tidemark.idempotency_key')).rows).toEqual([{ key: 'k' }]);
});

it('an answer that was stored since the transaction began is not overwritten', async () => {
  await expect(
    inTransaction(
      0,
      async (query) => {
        await query({ text: 'select 1' });
        await inTransaction(1, (another) => another(storeAnswer(key, answered)));
        await query(storeAnswer(key, { fingerprint: 'g', answer: '{}' }));
      },
      'rollback',
    ),
  ).rejects.toMatchObject({ code: '40001' });
});

it('a READ COMMITTED transaction sees an answer that was stored just before it got the lock', async () => {
  const [one, other] = clients as [pg.Client, pg.Client];
  await inTransaction(0, async (query) => {
    await query(claimKey(key, hour));
    await query(storeAnswer(key, answered));
    // The snapshot of this statement is older than the answer.
    const { text, values = [] } = claimKey(key, hour);
    const late = other.query(text.replace('from ', 'from (select pg_sleep(1)) wait cross join lateral '), [...values]);
    await one.query('select pg_sleep(0.3)');
    await one.query('commit');
    expect((await late).rows).toEqual([{ locked: true, ...answered }]);
  });
});
