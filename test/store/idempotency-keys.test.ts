import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { keepAnswer, lockKey, pruneAnswers, type Query, readAnswer } from '../../src/store/idempotency-keys.js';
import type { TestDatabase } from '../database.js';
import { createSynced, wholeTable } from '../synced.js';

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

const hour = 3600;
const key = { userID: 'ann', key: 'k' };
const kept = { fingerprint: 'f', answer: '{"ok":true}' };

/** Runs work in a transaction of its own, on one of two connections. */
async function inTransaction<T>(place: number, work: (query: Query) => Promise<T>, end = 'commit'): Promise<T> {
  const client = clients[place]!;
  await client.query('begin isolation level repeatable read');
  try {
    return await work(async (text, values) => (await client.query(text, [...values])).rows);
  } finally {
    await client.query(end);
  }
}

it('an answer is kept for its user and key, if its transaction commits', async () => {
  await inTransaction(0, (query) => keepAnswer(query, key, kept), 'rollback');
  await inTransaction(0, async (query) => expect(await readAnswer(query, key, hour)).toBeUndefined());
  await inTransaction(0, (query) => keepAnswer(query, key, kept));
  await inTransaction(1, async (query) => {
    expect(await readAnswer(query, key, hour)).toEqual(kept);
    expect(await readAnswer(query, { ...key, userID: 'ben' }, hour)).toBeUndefined();
    expect(await readAnswer(query, { ...key, key: 'K' }, hour)).toBeUndefined();
  });
});

it('a key is taken by one transaction at a time, and by no other user', async () => {
  await inTransaction(0, async (query) => {
    expect(await lockKey(query, key)).toBe(true);
    await inTransaction(1, async (another) => {
      expect(await lockKey(another, key)).toBe(false);
      expect(await lockKey(another, { ...key, userID: 'ben' })).toBe(true);
    });
  });
  await inTransaction(1, async (query) => expect(await lockKey(query, key)).toBe(true));
});

it('an answer that is older than the retention is none, and makes way', async () => {
  await inTransaction(0, (query) => keepAnswer(query, key, kept));
  await database.pool.query(`update tidemark.idempotency_key set created_at = now() - interval '1 hour 1 second'`);
  const later = { fingerprint: 'g', answer: '{"ok":false}' };
  await inTransaction(0, async (query) => {
    expect(await readAnswer(query, key, hour)).toBeUndefined();
    await keepAnswer(query, key, later);
  });
  await inTransaction(0, (query) => pruneAnswers(query, hour));
  await inTransaction(0, async (query) => expect(await readAnswer(query, key, hour)).toEqual(later));
});

it('only what is older than the retention is forgotten', async () => {
  await inTransaction(0, (query) => keepAnswer(query, { ...key, key: 'old' }, kept));
  await database.pool.query(`update tidemark.idempotency_key set created_at = now() - interval '1 hour 1 second'`);
  await inTransaction(0, (query) => keepAnswer(query, key, kept));
  await inTransaction(0, (query) => pruneAnswers(query, hour));
  expect((await database.pool.query('select key from tidemark.idempotency_key')).rows).toEqual([{ key: 'k' }]);
});

it('an answer that was kept since the transaction began is not overwritten', async () => {
  await expect(
    inTransaction(
      0,
      async (query) => {
        await query('select 1', []);
        await inTransaction(1, (another) => keepAnswer(another, key, kept));
        await keepAnswer(query, key, { fingerprint: 'g', answer: '{}' });
      },
      'rollback',
    ),
  ).rejects.toMatchObject({ code: '40001' });
});
