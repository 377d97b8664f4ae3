/** A type is altered while an open transaction has written rows. Afterwards, the same rows have other texts. */
import pg from 'pg';
import { expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView } from '../../../packages/tidemark/src/view/define.js';
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

/** The statements of the transaction, and those of others after it has ended. */
const histories: readonly (readonly [name: string, during: string, after: string])[] = [
  ['inserts a row', 'insert into t (id, n) values (3, 3)', ''],
  ['inserts a row, before an unread column changes', 'insert into t (id, n) values (3, 3)', 'update t set more = 1'],
  ['inserts a row that is deleted later', 'insert into t (id, n) values (3, 3)', 'delete from t where id = 3'],
  [
    'inserts a row that is deleted later, with the sum unchanged',
    'insert into t (id, n) values (3, 3)',
    'delete from t where id = 3; update t set n = n + 3 where id = 2',
  ],
  ['updates a row', 'update t set n = 7 where id = 1', ''],
  ['updates a row, before an unread column changes', 'update t set n = 7 where id = 1', 'update t set more = 1'],
  ['updates a row that is changed back later', 'update t set n = 7 where id = 1', 'update t set n = 1 where id = 1'],
  ['updates a row that is deleted later', 'update t set n = 7 where id = 1', 'delete from t where id = 1'],
  ['deletes a row', 'delete from t where id = 1', ''],
  ['deletes a row that is inserted again later', 'delete from t where id = 1', 'insert into t (id, n) values (1, 1)'],
  ['writes the label to rows', `update t set n = 7, mood = 'sad' where id > 10`, 'update t set more = 1'],
];

it.each(
  [labels, 'alter type place drop attribute y'].flatMap((change) =>
    histories.map(([name, during, after]) => [change, name, during, after] as const),
  ),
)('clients converge after %s while a transaction %s', async (change, _, during, after) => {
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
  // The server can determine that a row did not exist, but not always what an existing row contained.
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
])('a pull that sends one row corrects all rows after %s', async (change) => {
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
