/** The client that mutators get: what it sends, what it does not send, and how it tracks the transaction. */
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parserLoaded } from '../../../packages/tidemark/src/view/parse/syntax.js';
import { MutatorClient } from '../../../packages/tidemark/src/writes/client/mutator-client.js';
import { createPool, createTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let connection: pg.PoolClient;
let pool: pg.Pool;

beforeAll(async () => {
  await parserLoaded;
  database = await createTestDatabase();
  pool = createPool(database.url, 1);
  connection = await pool.connect();
  await connection.query('create table entry (n int)');
});
afterAll(async () => {
  connection.release();
  await pool.end();
  await database.drop();
});
beforeEach(() => connection.query('begin'));
afterEach(() => connection.query('rollback'));

const setting = async () => (await connection.query('show lock_timeout')).rows[0].lock_timeout;
const set = 'set local lock_timeout = 7';
const entries = async () => (await connection.query('select n from entry order by n')).rows.map(({ n }) => n);
const add = (client: pg.ClientBase, n: number) => client.query('insert into entry values ($1)', [n]);
const failed = { name: 'TransactionControlError' };

describe('the client of a mutator', () => {
  it('is a pg.Client, and sends statements', async () => {
    const guarded = new MutatorClient(connection);
    expect(guarded.client).toBeInstanceOf(pg.Client);
    expect(guarded.client.getTransactionStatus()).toBe('T');
    expect((await guarded.client.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    expect(guarded.isPlain).toBe(true);
    await guarded.client.query(set);
    expect(guarded.isPlain).toBe(false);
    expect(await setting()).toBe('7ms');
    guarded.check();
  });

  it('refuses, once restricted, a statement that is not plain and all later ones', async () => {
    const guarded = new MutatorClient(connection);
    guarded.restrict();
    expect((await guarded.client.query('select $1::int as n', [1])).rows).toEqual([{ n: 1 }]);
    await expect(guarded.client.query(set)).rejects.toMatchObject({ name: 'NotPlainError' });
    await expect(guarded.client.query('select 1')).rejects.toMatchObject({ name: 'NotPlainError' });
    expect(guarded.isPlain).toBe(false);
    expect(() => guarded.check()).toThrow('Other mutations share');
    expect(await setting()).toBe('0');
  });

  it('reports a refusal in each way that the driver supports', async () => {
    const guarded = new MutatorClient(connection);
    guarded.restrict();
    const byCallback = new Promise((resolve) => guarded.client.query(set, resolve));
    expect(await byCallback).toMatchObject({ name: 'NotPlainError' });
    const withValues = new Promise((resolve) => guarded.client.query(set, [], resolve));
    expect(await withValues).toMatchObject({ name: 'NotPlainError' });
    const submitted = new Promise((resolve) =>
      guarded.client.query(Object.assign(new pg.Query(set), { handleError: resolve })),
    );
    expect(await submitted).toMatchObject({ name: 'NotPlainError' });
    expect(await setting()).toBe('0');
  });

  it('is not sound from a failed statement until a rollback', async () => {
    const guarded = new MutatorClient(connection);
    const { client } = guarded;
    await client.query('select 1');
    expect(guarded.isSound).toBe(true);
    await client.query('savepoint a');
    const onRejection = await client.query('select 1 / 0').catch(() => guarded.isSound);
    expect(onRejection).toBe(false);
    await client.query('rollback to a');
    expect(guarded.isSound).toBe(true);
    const inCallback = await new Promise((resolve) => client.query('select 1 / 0', () => resolve(guarded.isSound)));
    expect(inCallback).toBe(false);
  });

  it('sends nothing once it is closed', async () => {
    const guarded = new MutatorClient(connection);
    guarded.close();
    await expect(guarded.client.query('select 1')).rejects.toThrow('is over');
  });

  it('works as a pool or a pooled client, and survives its release and end', async () => {
    const { client } = new MutatorClient(connection);
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

/** Ways to send a text. Each of them resolves when the text has run. */
const sendings: [kind: string, (client: pg.ClientBase, text: string) => Promise<unknown>][] = [
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

describe.each(sendings)('transactions that are begun and ended with %s', (_form, send) => {
  it('are nested', async () => {
    const guarded = new MutatorClient(connection);
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
    expect(connection.getTransactionStatus()).toBe('T');
    expect(await entries()).toEqual([1, 3]);
  });

  it('are refused at the end if none was begun', async () => {
    const guarded = new MutatorClient(connection);
    const { client } = guarded;
    await add(client, 1);
    await expect(send(client, 'commit')).rejects.toMatchObject(failed);
    await expect(send(client, 'rollback')).rejects.toMatchObject(failed);
    await send(client, 'begin');
    await send(client, 'commit');
    await expect(send(client, 'commit')).rejects.toMatchObject(failed);
    expect(connection.getTransactionStatus()).toBe('T');
    expect(await entries()).toEqual([1]);
    // Whatever happened to the error, nothing must be committed.
    expect(() => guarded.check()).toThrow('cannot end its transaction');
  });
});

describe('a nested transaction', () => {
  it('rolls back only its own statements, any number of times', async () => {
    const guarded = new MutatorClient(connection);
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

  it('in which a statement has failed can only be rolled back', async () => {
    const guarded = new MutatorClient(connection);
    const { client } = guarded;
    await add(client, 1);
    await client.query('begin');
    await add(client, 2);
    await client.query('select 1 / 0').catch(() => {});
    await expect(client.query('commit')).rejects.toMatchObject({ code: '25P02' });
    await expect(client.query('begin')).rejects.toMatchObject({ code: '25P02' });
    // The mutator may not be at fault. The COMMIT will show that.
    guarded.check();
    await client.query('rollback');
    guarded.check();
    expect(await entries()).toEqual([1]);
    await expect(client.query('rollback')).rejects.toMatchObject(failed);
  });

  it('must be ended', async () => {
    const guarded = new MutatorClient(connection);
    await guarded.client.query('begin');
    expect(() => guarded.check()).toThrow('left a transaction open');
    await guarded.client.query('commit');
    guarded.check();
  });

  it('has the isolation level of the outer transaction', async () => {
    const { client } = new MutatorClient(connection);
    await connection.query('rollback; begin isolation level repeatable read; select 1');
    await client.query('begin');
    await client.query('set transaction isolation level read committed');
    const { rows } = await client.query('show transaction_isolation');
    expect(rows).toEqual([{ transaction_isolation: 'repeatable read' }]);
    await client.query('commit');
  });
});

describe('transaction control that is not nested', () => {
  it.each([
    'begin; insert into entry values (2); commit',
    'insert into entry values (2); commit',
    'begin isolation level serializable',
    'set transaction read only',
    'commit and chain',
    `prepare transaction 'x'`,
    '/* now */ commit',
  ])('is refused before it runs: %s', async (text) => {
    const guarded = new MutatorClient(connection);
    await add(guarded.client, 1);
    await expect(guarded.client.query(text)).rejects.toMatchObject(failed);
    expect(await entries()).toEqual([1]);
    expect(() => guarded.check()).toThrow();
  });

  it('is refused before it runs in a query that submits itself', async () => {
    const { client } = new MutatorClient(connection);
    const submitted = new Promise((resolve) =>
      client.query(Object.assign(new pg.Query('begin'), { handleError: resolve })),
    );
    expect(await submitted).toMatchObject(failed);
    expect(connection.getTransactionStatus()).toBe('T');
  });
});

it.each(['do $$ begin commit; end $$', 'do $$ begin rollback; end $$'])(
  'Postgres itself does not let a block end the transaction: %s',
  async (text) => {
    const { client } = new MutatorClient(connection);
    await expect(client.query(text)).rejects.toMatchObject({ code: '2D000' });
  },
);

it('queries that submit themselves are sent, and classified by their text', async () => {
  const guarded = new MutatorClient(connection);
  await add(guarded.client, 1);
  const pieces: string[] = [];
  for await (const piece of guarded.client.query(copyTo('copy entry to stdout'))) pieces.push(String(piece));
  expect(pieces.join('')).toBe('1\n');
  expect(guarded.mayLast).toBe(false);
});
