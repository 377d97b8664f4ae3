/** A type is altered while a transaction goes on that has written rows: afterwards, the same rows are other texts. */
import pg from 'pg';
import { expect, it } from 'vitest';
import { sql } from '../../../src/sql.js';
import { defineView } from '../../../src/view/define.js';
import { useAltered } from './altered.js';

const altered = useAltered();

const views = {
  rows: defineView<{ id: number }>({ key: 'id', query: () => sql`select id, n from t` }),
  sum: defineView<{ all: string }>({ key: 'all', query: () => sql`select 'all' as all, sum(n) as total from t` }),
};
const ddl = `create type mood as enum ('glad', 'sad'); create type place as (x int, y int);
  create type crate as (place place, size int);
  create table t (id int primary key, n int, mood mood default 'sad', places place[] default array[(1, 2)::place], more int,
    crates crate[] default array[((1, 2), 3)::crate]);
  insert into t (id, n) values (1, 1), (2, 2); insert into t (id, n, mood) select id, 1, 'glad' from generate_series(11, 18) id`;

const labels = `alter type mood rename value 'sad' to 'sorry'`;

/** What the transaction does, and what others do once it has ended. */
const histories: readonly (readonly [name: string, during: string, after: string])[] = [
  ['a row comes', 'insert into t (id, n) values (3, 3)', ''],
  [
    'a row comes, and something changes that no view reads',
    'insert into t (id, n) values (3, 3)',
    'update t set more = 1',
  ],
  ['a row comes and goes', 'insert into t (id, n) values (3, 3)', 'delete from t where id = 3'],
  [
    'a row comes and goes, while the sum remains what it is with it',
    'insert into t (id, n) values (3, 3)',
    'delete from t where id = 3; update t set n = n + 3 where id = 2',
  ],
  ['a row changes', 'update t set n = 7 where id = 1', ''],
  ['a row changes, and something of it that no view reads', 'update t set n = 7 where id = 1', 'update t set more = 1'],
  ['a row changes, and changes back', 'update t set n = 7 where id = 1', 'update t set n = 1 where id = 1'],
  ['a row changes and goes', 'update t set n = 7 where id = 1', 'delete from t where id = 1'],
  ['a row goes', 'delete from t where id = 1', ''],
  ['a row goes and comes back', 'delete from t where id = 1', 'insert into t (id, n) values (1, 1)'],
  ['rows get the label', `update t set n = 7, mood = 'sad' where id > 10`, 'update t set more = 1'],
];

it.each(
  [labels, 'alter type place drop attribute y'].flatMap((change) =>
    histories.map(([name, during, after]) => [change, name, during, after] as const),
  ),
)('%s: %s', async (change, _, during, after) => {
  const { run, client, newcomer, passASecond, truth, url } = await altered.start(ddl, { views });
  const early = newcomer();
  await early.pull();
  const slow = new pg.Client(url);
  await slow.connect();
  await slow.query(`begin; ${during}`);
  await run(change);
  passASecond();
  await client.pull();
  await slow.query('commit');
  await slow.end();
  await run(after);
  // That a row was not there can be told; what it was, if it was there, not always.
  const { patch } = await client.pull();
  if (during.startsWith('insert')) expect(patch[0]?.op).not.toBe('clear');
  expect(client.held()).toEqual(await truth());
  await early.pull();
  expect(early.held()).toEqual(await truth());
});

it.each([
  labels,
  'alter type place rename attribute y to z',
  'alter type place drop attribute y',
  'alter type crate rename attribute place to spot',
])('shows all rows as they are once a pull has shown one: %s', async (change) => {
  const { run, client, truth } = await altered.start(ddl, {
    views: {
      all: defineView<{ id: number }>({
        key: 'id',
        query: () => sql`select id, n, mood, to_jsonb(places) as places, to_jsonb(crates) as crates from t`,
      }),
    },
  });
  await run(change);
  await run('update t set n = 7 where id = 1');
  await client.pull();
  expect(client.held()).toEqual(await truth());
});
