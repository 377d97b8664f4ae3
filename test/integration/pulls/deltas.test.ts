/** The deltas of single changes, op by op. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, fullRead, type Op, PullServer, SyncClient } from '../../support/synced.js';

const ddl = `
  create table list (id int primary key, owner_id text, name text);
  create table share (list_id int, user_id text, primary key (list_id, user_id));
  create table todo (id int primary key, list_id int, title text)`;
const views: Views<Context> = {
  list: defineView<{ id: number }>({
    key: 'id',
    query: ({ ctx }) => sql`select id, name from list
      where owner_id = ${ctx.userID} or id in (select list_id from share where user_id = ${ctx.userID})`,
  }),
  todo: defineView<{ id: number }>({
    key: 'id',
    query: ({ ctx }) => sql`select t.id, l.name, t.title from todo t join list l on l.id = t.list_id
      where l.owner_id = ${ctx.userID}`,
  }),
  count: defineView<{ id: number }>({
    key: 'id',
    query: () => sql`select list_id as id, count(*)::int as todos from todo group by list_id`,
  }),
};

let database: TestDatabase;
let server: PullServer;
let client: SyncClient;

beforeAll(async () => {
  database = await createSynced(ddl, views);
  server = new PullServer(database.url, views);
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

beforeEach(async () => {
  await database.pool.query(`
    delete from list; delete from share; delete from todo;
    insert into list values (1, 'ada', 'one'), (2, 'ben', 'two');
    insert into share values (1, 'ada');
    insert into todo values (10, 1, 'ten'), (11, 1, 'eleven'), (20, 2, 'twenty')`);
  client = new SyncClient(server);
  await client.pull();
});

const put = (key: string, value: object): Op => {
  return { op: 'put', key, value: { id: Number(key.split('/')[1]), ...value } };
};
const del = (key: string): Op => ({ op: 'del', key });

it.each<[name: string, change: string, ops: Op[]]>([
  ['a value changes', `update todo set title = 'TEN' where id = 10`, [put('todo/10', { name: 'one', title: 'TEN' })]],
  ['a value changes twice', `update todo set title = 'x' where id = 10; update todo set title = 'TEN' where id = 10`, [
    put('todo/10', { name: 'one', title: 'TEN' }),
  ]],
  ['values change and change back', `update todo set title = 'x'; update todo set title = 'ten' where id = 10;
    update todo set title = 'eleven' where id = 11; update todo set title = 'twenty' where id = 20`, []],
  ['a row is deleted and inserted again', `delete from todo where id = 10; insert into todo values (10, 1, 'ten')`, []],
  ['a row is inserted, deleted and inserted again', `insert into todo values (12, 1, 'twelve'); delete from todo where id = 12;
    insert into todo values (12, 1, 'twelve')`, [
    put('todo/12', { name: 'one', title: 'twelve' }),
    put('count/1', { todos: 3 }),
  ]],
  ['a row is inserted and deleted', `insert into todo values (12, 1, 'twelve'); delete from todo where id = 12`, []],
  ['two rows are inserted that a join combines', `insert into list values (3, 'ada', 'three'); insert into todo values (30, 3, 'thirty')`, [
    put('list/3', { name: 'three' }),
    put('todo/30', { name: 'three', title: 'thirty' }),
    put('count/3', { todos: 1 }),
  ]],
  ['two rows are deleted that a join combined', `delete from list where id = 1; delete from todo where id = 10`, [
    del('list/1'),
    del('todo/10'),
    del('todo/11'),
    put('count/1', { todos: 1 }),
  ]],
  ['a row changes before it leaves the view', `update list set name = 'x' where id = 1;
    update list set owner_id = 'ben' where id = 1; delete from share`, [del('list/1'), del('todo/10'), del('todo/11')]],
  ['a row loses one of two reasons to be visible', `delete from share`, []],
  ['a row becomes visible for another reason', `insert into share values (2, 'ada')`, [put('list/2', { name: 'two' })]],
  ['a key changes', `update todo set id = 12 where id = 10`, [
    del('todo/10'),
    put('todo/12', { name: 'one', title: 'ten' }),
  ]],
  ['a count changes', `delete from todo where id = 11`, [del('todo/11'), put('count/1', { todos: 1 })]],
  ['a count falls to zero', `delete from todo where list_id = 2`, [del('count/2')]],
  ['rows change that the user does not see', `update list set name = 'x' where id = 2; update todo set title = 'x' where id = 20`, []],
])('a delta contains exactly the difference after %s', async (_, change, ops) => {
  await database.pool.query(change);
  const { patch } = await client.pull();
  const sorted = (list: readonly Op[]) => list.map((op) => JSON.stringify(op)).sort();
  expect(sorted(patch)).toEqual(sorted(ops));
  expect(client.held()).toEqual(await fullRead(server));
}); // biome-ignore format: changes and ops

it('a transaction that was open at the previous pull is sent once it commits', async () => {
  const writers = await Promise.all([1, 2, 3].map(() => database.pool.connect()));
  const write = (i: number, text: string) => writers[i]!.query(text);
  await write(0, `begin; update todo set title = 'first' where id = 10`);
  await write(1, `begin; update todo set title = 'second' where id = 11`);
  await write(2, `update list set name = 'two' where id = 2`);
  await write(1, 'commit');
  expect((await client.pull()).patch).toEqual([put('todo/11', { name: 'one', title: 'second' })]);
  expect((await client.pull()).patch).toEqual([]);
  await write(0, 'commit');
  expect((await client.pull()).patch).toEqual([put('todo/10', { name: 'one', title: 'first' })]);
  for (const writer of writers) writer.release();
});

it('a row without a key fails the pull with an error that names the view', async () => {
  const bare = {
    bare: defineView<{ id: number }>({ key: 'id', query: () => sql`select list_id as id from todo` }),
  };
  const other = new PullServer(database.url, bare);
  const failure = 'a row of the view "bare" has no key';
  try {
    await database.pool.query('delete from todo');
    const { cookie } = await other.pull(null);
    await database.pool.query('insert into todo values (40, null)');
    await expect(other.pull(cookie)).rejects.toHaveProperty('cause.message', expect.stringContaining(failure));
    await expect(other.pull(null)).rejects.toHaveProperty('cause.message', expect.stringContaining(failure));
  } finally {
    await other.close();
  }
});
