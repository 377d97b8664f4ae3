/** Logged errors of Postgres name what failed, and quote no row. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeError } from '../../packages/tidemark/src/log.js';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(`
    create type color as enum ('red');
    create table item (id int primary key check (id < 1000), note varchar(5), at date, color color)`);
  await database.pool.query(`insert into item values (42, 'old')`);
});
afterAll(() => database.drop());

const secret = 'se"cret"';

it.each<[string, unknown[]]>([
  ['insert into item (id) values ($1)', [secret]],
  ['insert into item (id) values ($1)', ['99999999999999']],
  ['insert into item (id, note) values (1, $1)', [secret]],
  ['insert into item (id, at) values (1, $1)', [secret]],
  ['insert into item (id, at) values (1, $1)', ['2026-99-99']],
  ['insert into item (id, color) values (1, $1)', [secret]],
  ['select $1::jsonb', [`{"${secret}`]],
  ['insert into item (id, note) values ($1, $2)', [42, 'secret']],
  ['insert into item (id) values ($1)', [4242]],
  ['select $1::text::bytea', [`\\x${secret}`]],
  ['select to_date($1, $2)', [secret, 'YYYY']],
])('quotes no value in the error of: %s', async (text, values) => {
  const error = await database.pool.query(text, values).catch((thrown: unknown) => thrown);
  const described = describeError(new Error('outer', { cause: error }));
  expect(described).toMatchObject({ cause: { code: expect.any(String), message: expect.any(String) } });
  const logged = JSON.stringify(described);
  for (const value of values) expect(logged).not.toContain(JSON.stringify(String(value)).slice(1, -1));
  expect(logged).not.toContain('cret');
});

it('names a relation that does not exist', async () => {
  const error = await database.pool.query('select * from nothing').catch((thrown: unknown) => thrown);
  expect(describeError(error)).toMatchObject({ code: '42P01', message: 'relation "nothing" does not exist' });
});
