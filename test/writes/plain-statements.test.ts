import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isPlain, shareClient } from '../../src/writes/plain-statements.js';
import { createPool, createTestDatabase, type TestDatabase } from '../database.js';

describe('plain', () => {
  it.each([
    'select 1',
    ' SELECT 1;\n',
    'insert into t values (1)',
    'update t set a = 1',
    'delete from t',
    'with x as (select 1) insert into t select * from x',
    'merge into t using s on true when matched then do nothing',
    'values (1)',
    { text: 'select $1', values: [1] },
  ])('%s', (statement) => expect(isPlain(statement)).toBe(true));
});

describe('not plain', () => {
  it.each([
    'commit',
    'END',
    ' rollback',
    'abort',
    "prepare transaction 'x'",
    'begin',
    'savepoint a',
    'set local role other',
    'set constraints all deferred',
    'reset all',
    "select set_config('app.user', 'a', true)",
    `select pg_catalog."set_config"('app.user', 'a', true)`,
    'select 1; commit',
    'insert into t values (1); set local role other;',
    '/* hint */ commit',
    '-- select\ncommit',
    'create temp table x (id int) on commit drop',
    'do $$ begin end $$',
    'call p()',
    'lock table t',
    'declare c cursor for select 1',
    'copy t from stdin',
    'selective',
    '',
    { name: 'prepared before' },
    { text: 'set local role other' },
    { text: 'select 1', submit: () => {} },
    null,
    undefined,
    7,
  ])('%s', (statement) => expect(isPlain(statement)).toBe(false));
});

let database: TestDatabase;
let client: pg.PoolClient;
let pool: pg.Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = createPool(database.url, 1);
  client = await pool.connect();
});
afterAll(async () => {
  client.release();
  await pool.end();
  await database.drop();
});
beforeEach(() => client.query('reset all'));

const setting = async () => (await client.query('show lock_timeout')).rows[0].lock_timeout;
const set = 'set lock_timeout = 7';

describe('a client that is shared', () => {
  it('is a client, and sends everything at first', async () => {
    const shared = shareClient(client);
    expect(shared.client).toBeInstanceOf(pg.Client);
    expect(shared.client.getTransactionStatus()).toBe('I');
    expect((await shared.client.query('select 1 as n')).rows).toEqual([{ n: 1 }]);
    expect(shared.isPlain()).toBe(true);
    await shared.client.query(set);
    expect(shared.isPlain()).toBe(false);
    expect(await setting()).toBe('7ms');
  });

  it('then refuses what is not plain, and whatever comes after it', async () => {
    const shared = shareClient(client);
    shared.restrict();
    expect((await shared.client.query('select $1::int as n', [1])).rows).toEqual([{ n: 1 }]);
    await expect(shared.client.query(set)).rejects.toMatchObject({ name: 'NotPlainError' });
    await expect(shared.client.query('select 1')).rejects.toMatchObject({ name: 'NotPlainError' });
    expect(shared.isPlain()).toBe(false);
    expect(await setting()).toBe('0');
  });

  it('refuses in each of the ways that the driver answers', async () => {
    const shared = shareClient(client);
    shared.restrict();
    const told = new Promise((resolve) => shared.client.query(set, resolve));
    expect(await told).toMatchObject({ name: 'NotPlainError' });
    const submitted = new Promise((resolve) =>
      shared.client.query(Object.assign(new pg.Query(set), { handleError: resolve })),
    );
    expect(await submitted).toMatchObject({ name: 'NotPlainError' });
    expect(await setting()).toBe('0');
  });

  it('says that a statement has failed as soon as whoever sent it knows, unless that may have mended it', async () => {
    const shared = shareClient(client);
    await shared.client.query('select 1');
    expect(shared.hasFailed()).toBe(false);
    const seen = await shared.client.query('select 1 / 0').catch(() => shared.hasFailed());
    expect(seen).toBe(true);

    const mending = shareClient(client);
    await mending.client.query('begin; savepoint a');
    await mending.client.query('select 1 / 0').catch(() => mending.client.query('rollback to a'));
    expect(mending.hasFailed()).toBe(false);
    await mending.client.query('commit');
  });

  it('sends nothing once it is closed', async () => {
    const shared = shareClient(client);
    shared.close();
    await expect(shared.client.query('select 1')).rejects.toMatchObject({ name: 'NotPlainError' });
  });
});
