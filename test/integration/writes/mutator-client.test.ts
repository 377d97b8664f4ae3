/** The client that mutators get: what it sends, what it does not, and what it knows of the transaction. */
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parserLoaded } from '../../../src/view/parse/syntax.js';
import { MutatorClient } from '../../../src/writes/client/mutator-client.js';
import { createPool, createTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let own: pg.PoolClient;
let pool: pg.Pool;

beforeAll(async () => {
  await parserLoaded;
  database = await createTestDatabase();
  pool = createPool(database.url, 1);
  own = await pool.connect();
  await own.query('create table entry (n int)');
});
afterAll(async () => {
  own.release();
  await pool.end();
  await database.drop();
});
beforeEach(() => own.query('begin'));
afterEach(() => own.query('rollback'));

const setting = async () => (await own.query('show lock_timeout')).rows[0].lock_timeout;
const set = 'set local lock_timeout = 7';
const entries = async () => (await own.query('select n from entry order by n')).rows.map(({ n }) => n);
const add = (client: pg.ClientBase, n: number) => client.query('insert into entry values ($1)', [n]);
const failed = { name: 'TransactionControlError' };

describe('the client of a mutator', () => {
  it('is a client, and sends what is asked', async () => {
    const guarded = new MutatorClient(own);
    expect(guarded.client).toBeInstanceOf(pg.Client);
    expect(guarded.client.getTransactionStatus()).toBe('T');
    expect((await guarded.client.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    expect(guarded.isPlain).toBe(true);
    await guarded.client.query(set);
    expect(guarded.isPlain).toBe(false);
    expect(await setting()).toBe('7ms');
    guarded.check();
  });

  it('then refuses what is not plain, and whatever comes after it', async () => {
    const guarded = new MutatorClient(own);
    guarded.restrict();
    expect((await guarded.client.query('select $1::int as n', [1])).rows).toEqual([{ n: 1 }]);
    await expect(guarded.client.query(set)).rejects.toMatchObject({ name: 'NotPlainError' });
    await expect(guarded.client.query('select 1')).rejects.toMatchObject({ name: 'NotPlainError' });
    expect(guarded.isPlain).toBe(false);
    expect(() => guarded.check()).toThrow('Other mutations share');
    expect(await setting()).toBe('0');
  });

  it('refuses in each of the ways that the driver answers', async () => {
    const guarded = new MutatorClient(own);
    guarded.restrict();
    const told = new Promise((resolve) => guarded.client.query(set, resolve));
    expect(await told).toMatchObject({ name: 'NotPlainError' });
    const withValues = new Promise((resolve) => guarded.client.query(set, [], resolve));
    expect(await withValues).toMatchObject({ name: 'NotPlainError' });
    const submitted = new Promise((resolve) =>
      guarded.client.query(Object.assign(new pg.Query(set), { handleError: resolve })),
    );
    expect(await submitted).toMatchObject({ name: 'NotPlainError' });
    expect(await setting()).toBe('0');
  });

  it('says that a statement has failed as soon as whoever sent it knows, until that is mended', async () => {
    const guarded = new MutatorClient(own);
    const { client } = guarded;
    await client.query('select 1');
    expect(guarded.isSound).toBe(true);
    await client.query('savepoint a');
    const seen = await client.query('select 1 / 0').catch(() => guarded.isSound);
    expect(seen).toBe(false);
    await client.query('rollback to a');
    expect(guarded.isSound).toBe(true);
    const told = await new Promise((resolve) => client.query('select 1 / 0', () => resolve(guarded.isSound)));
    expect(told).toBe(false);
  });

  it('sends nothing once it is closed', async () => {
    const guarded = new MutatorClient(own);
    guarded.close();
    await expect(guarded.client.query('select 1')).rejects.toThrow('is over');
  });

  it('outlives whoever takes it for a client of a pool, or for a pool', async () => {
    const { client } = new MutatorClient(own);
    await client.end();
    client.release(true);
    client.release();
    const another = (await client.connect()) as unknown as pg.PoolClient;
    expect((await another.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    another.release();
    const pooled = client as unknown as pg.Pool;
    const done = new Promise<void>((resolve) =>
      pooled.connect((_error, _client, give) => pooled.end(() => resolve(give()))),
    );
    await done;
    expect((await client.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
  });
});

/** Ways to send a text, each of which fulfils when it is done. */
const forms: [form: string, (client: pg.ClientBase, text: string) => Promise<unknown>][] = [
  ['a text', (client, text) => client.query(text)],
  ['a text with values', (client, text) => client.query(text, [])],
  ['an object', (client, text) => client.query({ text, values: [], rowMode: 'array', types: pg.types })],
  ['an object with a name', (client, text) => client.query({ name: text, text })],
  [
    'a callback',
    (client, text) =>
      new Promise<void>((resolve, reject) => client.query(text, (error) => (error ? reject(error) : resolve()))),
  ],
];

describe.each(forms)('transactions that are begun and ended by %s', (_form, send) => {
  it('are nested', async () => {
    const guarded = new MutatorClient(own);
    const { client } = guarded;
    await send(client, 'BEGIN');
    await add(client, 1);
    await send(client, 'start transaction isolation level read committed');
    await add(client, 2);
    await send(client, 'rollback');
    await send(client, 'begin');
    await add(client, 3);
    await send(client, 'COMMIT');
    await send(client, 'end');
    guarded.check();
    expect(own.getTransactionStatus()).toBe('T');
    expect(await entries()).toEqual([1, 3]);
  });

  it('are refused where none was begun', async () => {
    const guarded = new MutatorClient(own);
    const { client } = guarded;
    await add(client, 1);
    await expect(send(client, 'commit')).rejects.toMatchObject(failed);
    await expect(send(client, 'rollback')).rejects.toMatchObject(failed);
    await send(client, 'begin');
    await send(client, 'commit');
    await expect(send(client, 'commit')).rejects.toMatchObject(failed);
    expect(own.getTransactionStatus()).toBe('T');
    expect(await entries()).toEqual([1]);
    // Whatever became of the error: nothing must be committed.
    expect(() => guarded.check()).toThrow('cannot end its transaction');
  });
});

describe('a nested transaction', () => {
  it('takes back no more than its own, however often', async () => {
    const guarded = new MutatorClient(own);
    const { client } = guarded;
    await client.query('savepoint mine');
    for (const n of [1, 2, 3]) {
      await client.query('begin');
      await add(client, n);
      await client.query('begin');
      await add(client, -n);
      await client.query('select 1 / 0').catch(() => {});
      await client.query('rollback');
      await client.query(n === 2 ? 'rollback' : 'commit');
    }
    guarded.check();
    expect(guarded.isSound).toBe(true);
    expect(await entries()).toEqual([1, 3]);
    await client.query('rollback to mine');
    expect(await entries()).toEqual([]);
  });

  it('in which a statement has failed cannot be committed, only rolled back', async () => {
    const guarded = new MutatorClient(own);
    const { client } = guarded;
    await add(client, 1);
    await client.query('begin');
    await add(client, 2);
    await client.query('select 1 / 0').catch(() => {});
    await expect(client.query('commit')).rejects.toMatchObject({ code: '25P02' });
    await expect(client.query('begin')).rejects.toMatchObject({ code: '25P02' });
    // Not the mutator's fault, perhaps: the COMMIT will tell.
    guarded.check();
    await client.query('rollback');
    guarded.check();
    expect(await entries()).toEqual([1]);
    await expect(client.query('rollback')).rejects.toMatchObject(failed);
  });

  it('must be ended', async () => {
    const guarded = new MutatorClient(own);
    await guarded.client.query('begin');
    expect(() => guarded.check()).toThrow('left a transaction open');
    await guarded.client.query('commit');
    guarded.check();
  });

  it('has the characteristics of the transaction', async () => {
    const { client } = new MutatorClient(own);
    await own.query('rollback; begin isolation level repeatable read; select 1');
    await client.query('begin');
    await client.query('set transaction isolation level read committed');
    const { rows } = await client.query('show transaction_isolation');
    expect(rows).toEqual([{ transaction_isolation: 'repeatable read' }]);
    await client.query('commit');
  });
});

describe('is refused before anything is done:', () => {
  it.each([
    'begin; insert into entry values (2); commit',
    'insert into entry values (2); commit',
    'begin isolation level serializable',
    'set transaction read only',
    'commit and chain',
    `prepare transaction 'x'`,
    '/* now */ commit',
  ])('%s', async (text) => {
    const guarded = new MutatorClient(own);
    await add(guarded.client, 1);
    await expect(guarded.client.query(text)).rejects.toMatchObject(failed);
    expect(await entries()).toEqual([1]);
    expect(() => guarded.check()).toThrow();
  });

  it('a query that sends itself', async () => {
    const { client } = new MutatorClient(own);
    const submitted = new Promise((resolve) =>
      client.query(Object.assign(new pg.Query('begin'), { handleError: resolve })),
    );
    expect(await submitted).toMatchObject(failed);
    expect(own.getTransactionStatus()).toBe('T');
  });
});

it.each(['do $$ begin commit; end $$', 'do $$ begin rollback; end $$'])(
  'Postgres itself does not let %s end it',
  async (text) => {
    const { client } = new MutatorClient(own);
    await expect(client.query(text)).rejects.toMatchObject({ code: '2D000' });
  },
);

it('queries that send themselves are sent, and known by their text', async () => {
  const guarded = new MutatorClient(own);
  await add(guarded.client, 1);
  const pieces: string[] = [];
  for await (const piece of guarded.client.query(copyTo('copy entry to stdout'))) pieces.push(String(piece));
  expect(pieces.join('')).toBe('1\n');
  expect(guarded.mayLast).toBe(false);
});
