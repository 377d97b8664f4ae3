/** Of which types equal values are always written alike, so that it does not matter which of them is kept. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.js';
import { openPool } from '../../src/db/pg.js';
import { analyze } from '../../src/view/analyze.js';
import { createEmptyDatabase, type TestDatabase } from '../database.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createEmptyDatabase();
  db = openPool(database.url);
  await database.pool.query(`
    create type mood as enum ('good', 'bad');
    create type place as (x int, y text);
    create type price as (amount numeric, currency text);
    create type offer as (name text, price price);
    create domain label as text;
    create domain rate as numeric;
    create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create table t (
      id int primary key, mood mood, moods mood[], place place, price price, prices price[], offer offer, label label,
      rate rate, text text, loose text collate loose, texts text[], span int4range, spans numrange, at timestamptz,
      exact numeric(9, 2), padded char(3), bare bpchar, n numeric, f float8, doc jsonb, wait interval, bits bit(3)
    );`);
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const choosesBetween = async (text: string) => (await analyze(db, text, ['id'])).choosesByKey;

it.each([
  'id', 'mood', 'moods', 'place', 'label', 'text', 'texts', 'span', 'at', 'exact', 'padded', 'bits', 'lower(text)',
  'n::numeric(5, 1)', 'length(loose)', 'loose collate "C"', 'n > 1', 'n is null', 'n in (1, 2)', 'f::text', 'array[id]',
])('%s: equal values are alike', async (expression) => {
  expect(await choosesBetween(`select distinct ${expression} as id from t`)).toBe(false);
}); // biome-ignore format: a list of expressions

it.each([
  'price', 'prices', 'offer', 'rate', 'spans', 'loose', 'n', 'f', 'doc', 'wait', 'bare', 'n + 1', 'lower(loose)',
  'coalesce(n, 1)', 'case when id = 1 then n end', 'greatest(n, 1)', 'array[n]', '(price).amount', '(select max(n) from t)',
])('%s: they may not be', async (expression) => {
  expect(await choosesBetween(`select distinct ${expression} as id from t`)).toBe(true);
}); // biome-ignore format: a list of expressions
