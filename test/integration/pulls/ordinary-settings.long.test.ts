/** The settings of a server's role or database do not affect what clients receive. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { createSynced, fullRead, PullServer, SyncClient, tableView } from '../../support/synced.js';

const columns = {
  f: ['float8', '0.1::float8 + 0.2'],
  r: ['real', '1 / 3.0'],
  at: ['timestamptz', `'2026-03-04 05:06:07.89+01'`],
  local: ['timestamp', `'2026-03-04 05:06:07.89'`],
  day: ['date', `'2026-03-04'`],
  span: ['interval', `'1 year -2 days 03:04:05'`],
  bytes: ['bytea', `'\\xff00'`],
  texts: ['text[]', `array[null, 'NULL', 'a']`],
  price: ['money', `'12.5'`],
  during: ['tstzrange', `'[2026-03-04,2026-03-05)'`],
  place: ['point', `'(0.1,0.3)'`],
  mood: ['"Mood"', `'so so'`],
  pair: ['"Pair"', `row(0.1::float8 + 0.2, '2026-03-04'::date)::"Pair"`],
  text: ['xml', `'<a/>b'`],
  doc: ['jsonb', `'{"a": null}'`],
};

const lines = Object.entries(columns);
const views = {
  rows: tableView('"Odd"', 'id', 'rows/'),
  slashed: defineView({
    key: 'id',
    prefix: 'sla\\shed/',
    nulls: 'omit',
    query: () => ({
      text: String.raw`select id, 'a' as "back\slash", null as "quo""te", regexp_replace('ab', '^(.)', '\1\1') as doubled,
        '\x4a' as text, '\x00'::bytea as bytes, '{NULL}'::integer[] as nothing from "Odd"`,
      values: [],
    }),
  }),
  tiny: defineView<{ n: number; f: number }>({
    key: ['n', 'f'],
    query: () => sql`select distinct 0.0000001 as n, 1e-300::float8 as f from "Odd"`,
  }),
  unnamed: defineView<{ id: string }>({ key: 'id', query: () => sql`select id from "Odd" where texts[1] is null` }),
};
let database: TestDatabase;

beforeAll(async () => {
  database = await createSynced(
    `create type "Mood" as enum ('so so'); create type "Pair" as (f float8, day date);
     create table "Odd" (id bigint primary key, ${lines.map(([name, [type]]) => `${name} ${type}`).join(', ')});
     insert into "Odd" select n, ${lines.map(([, [, value]]) => value).join(', ')} from generate_series(1, 3) n`,
    views,
  );
});
afterAll(() => database.drop());

it.each([
  'datestyle=German',
  'datestyle=SQL,DMY',
  'intervalstyle=sql_standard',
  'extra_float_digits=0',
  'extra_float_digits=-15',
  'bytea_output=escape',
  'standard_conforming_strings=off',
  'quote_all_identifiers=on',
  'array_nulls=off',
  'transform_null_equals=on',
  'xmloption=document',
  'default_transaction_isolation=serializable',
  'row_security=off',
  'search_path=public,pg_catalog',
  'plan_cache_mode=force_generic_plan',
  'enable_seqscan=off',
  'client_min_messages=debug1',
])('clients receive the same rows, and keep their cookies, from a server whose sessions have %s', async (setting) => {
  const address = new URL(database.url);
  address.searchParams.set('options', `-c ${setting}`);
  const [plain, odd] = [new PullServer(database.url, views), new PullServer(address.href, views)];
  expect(await fullRead(odd)).toEqual(await fullRead(plain));
  const client = new SyncClient(plain);
  await client.pull();
  expect((await client.pull(odd)).patch).toEqual([]);
  await database.pool.query('update "Odd" set r = r + 1 where id = 1');
  expect((await client.pull(odd)).patch).toHaveLength(1);
  expect(client.held()).toEqual(await fullRead(plain));
  await database.pool.query(`update "Odd" set texts[1] = 'b' where id = 1`);
  await client.pull(odd);
  expect(client.held()).toEqual(await fullRead(plain));
  await database.pool.query(
    'delete from "Odd" where id = 1; insert into "Odd" select 1, '.concat(
      `${lines.map(([name]) => name).join(', ')} from "Odd" where id = 2`,
    ),
  );
  await client.pull(odd);
  expect(client.held()).toEqual(await fullRead(plain));
  await Promise.all([plain.close(), odd.close()]);
});
