/** Deltas of views that are divided into partitions, op by op: outer joins, counts, NOT EXISTS and the like. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, fullRead, type Op, PullServer, SyncClient } from '../../support/synced.js';

const ddl = `
  create table person (id int primary key, name text, boss_id int);
  create table issue (id int primary key, assignee_id int, state text, title text);
  create table comment (id int primary key, issue_id int, author_id int, body text);
  create table seen (user_id text, issue_id int, primary key (user_id, issue_id));
  create table hidden (issue_id int primary key);
  create table planned (day int primary key, hours int); create table spent (day int primary key, hours int);
  create index on issue (assignee_id); create index on comment (issue_id);`;

const view = (query: (userID: string) => ReturnType<typeof sql>, key: string | string[] = 'id') =>
  defineView<{ id: number }>({ key: key as 'id', query: ({ ctx }) => query(ctx.userID) as never });

const views: Views<Context> = {
  assigned: view(
    () => sql`select i.id, i.title, p.name, b.name as boss from issue i
    left join person p on p.id = i.assignee_id left join person b on b.id = p.boss_id`,
  ),
  free: view(() => sql`select i.id from issue i left join person p on p.id = i.assignee_id where p.id is null`),
  counted: view(
    () => sql`select i.id, (select count(*)::int from comment c where c.issue_id = i.id) as n from issue i`,
  ),
  grouped: view(
    () => sql`select issue_id as id, count(*)::int as n from comment where issue_id is not null
    group by issue_id having count(*) < 3`,
  ),
  open: view(
    (
      user,
    ) => sql`select i.id from issue i where not exists (select from seen s where s.issue_id = i.id and s.user_id = ${user})
    and not exists (select from hidden h where h.issue_id = i.id)`,
  ),
  silent: view(() => sql`select i.id from issue i where i.id not in (select c.issue_id from comment c)`),
  latest: view(
    () => sql`select i.id, c.body from issue i cross join lateral (
    select body from comment c where c.issue_id = i.id order by c.id desc limit 1) c`,
  ),
  first: view(
    () =>
      sql`select distinct on (issue_id) issue_id as id, body from comment where issue_id is not null order by issue_id, id`,
  ),
  ranked: view(
    () => sql`select x.id, x.state, x.place::int from (
    select id, state, row_number() over (partition by state order by title, id) as place from issue where state is not null
  ) x where x.place < 3`,
    ['state', 'id'],
  ),
  left: view((user) => sql`select id from issue except select issue_id from seen where user_id = ${user}`),
  both: view(
    () => sql`select day as id, p.hours as planned, s.hours as spent from planned p full join spent s using (day)`,
  ),
  twice: view(
    () => sql`with talk as (select issue_id, count(*)::int as n from comment group by issue_id)
    select i.id, t.n, (select max(n) from talk where talk.issue_id = i.id) as same from issue i left join talk t on t.issue_id = i.id`,
  ),
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

const start = `
  delete from person; delete from issue; delete from comment; delete from seen; delete from hidden;
  insert into person values (1, 'ann', 2), (2, 'ben', null), (3, 'cam', 1);
  insert into issue values (1, 1, 'a', 'one'), (2, 1, 'a', 'two'), (3, null, 'b', 'three'), (4, 9, 'b', 'four');
  insert into comment values (10, 1, 1, 'x'), (11, 1, 2, 'y'), (20, 2, 1, 'z');
  insert into seen values ('ada', 2), ('ben', 1);
  delete from planned; delete from spent;
  insert into planned values (1, 8), (2, 8); insert into spent values (2, 5), (3, 6);`;

beforeEach(async () => {
  await database.pool.query(start);
  client = new SyncClient(server);
  await client.pull();
});

const put = (key: string, value: object = {}): Op => ({
  op: 'put',
  key,
  value: { id: Number(key.split('/').at(-1)), ...value },
});
const del = (key: string): Op => ({ op: 'del', key });

async function delta(change: string): Promise<readonly Op[]> {
  await database.pool.query(change);
  const { patch } = await client.pull();
  expect(client.held()).toEqual(await fullRead(server));
  return patch;
}

const inOrder = (ops: readonly Op[]) => ops.map((op) => JSON.stringify(op)).sort();

it.each<[name: string, change: string, ops: Op[]]>([
  ['a joined row changes', `update person set name = 'ANN' where id = 1`, [
    put('assigned/1', { title: 'one', name: 'ANN', boss: 'ben' }),
    put('assigned/2', { title: 'two', name: 'ANN', boss: 'ben' }),
  ]],
  ['a row joined to a joined row changes', `update person set name = 'BEN' where id = 2`, [
    put('assigned/1', { title: 'one', name: 'ann', boss: 'BEN' }),
    put('assigned/2', { title: 'two', name: 'ann', boss: 'BEN' }),
  ]],
  ['a row between two joins changes', `update person set boss_id = 3 where id = 1`, [
    put('assigned/1', { title: 'one', name: 'ann', boss: 'cam' }),
    put('assigned/2', { title: 'two', name: 'ann', boss: 'cam' }),
  ]],
  ['a joined row is inserted', `insert into person values (9, 'new', null)`, [
    put('assigned/4', { title: 'four', name: 'new', boss: null }),
    del('free/4'),
  ]],
  ['a joined row is deleted', `delete from person where id = 1`, [
    put('assigned/1', { title: 'one', name: null, boss: null }),
    put('assigned/2', { title: 'two', name: null, boss: null }),
    put('free/1'),
    put('free/2'),
  ]],
  ['another row is joined and the previous one is deleted', `update issue set assignee_id = 2 where id = 1; delete from person where id = 1`, [
    put('assigned/1', { title: 'one', name: 'ben', boss: null }),
    put('assigned/2', { title: 'two', name: null, boss: null }),
    put('free/2'),
  ]],
  ['a count increases', `insert into comment values (21, 2, 1, 'w')`, [
    put('counted/2', { n: 2 }),
    put('grouped/2', { n: 2 }),
    put('latest/2', { body: 'w' }),
    put('twice/2', { n: 2, same: 2 }),
  ]],
  ['an insert removes a group', `insert into comment values (12, 1, 1, 'w')`, [
    put('counted/1', { n: 3 }),
    del('grouped/1'),
    put('latest/1', { body: 'w' }),
    put('twice/1', { n: 3, same: 3 }),
  ]],
  ['a group is emptied', `delete from comment where issue_id = 2`, [
    put('counted/2', { n: 0 }),
    del('grouped/2'),
    del('latest/2'),
    del('first/2'),
    put('silent/2'),
    put('twice/2', { n: null, same: null }),
  ]],
  ['a row moves between groups', `update comment set issue_id = 2 where id = 10`, [
    put('counted/1', { n: 1 }),
    put('counted/2', { n: 2 }),
    put('grouped/1', { n: 1 }),
    put('grouped/2', { n: 2 }),
    put('first/1', { body: 'y' }),
    put('first/2', { body: 'x' }),
    put('twice/1', { n: 1, same: 1 }),
    put('twice/2', { n: 2, same: 2 }),
  ]],
  ['a row of a group changes without effect', `update comment set author_id = 3 where id = 10`, []],
  ['a row moves to another group and back', `update comment set issue_id = 2 where id = 10; update comment set issue_id = 1 where id = 10`, []],
  ['both reasons to exclude a row appear', `insert into seen values ('ada', 1); insert into hidden values (1)`, [del('open/1'), del('left/1')]],
  ['one of two reasons to exclude a row disappears', `insert into hidden values (2); delete from seen where user_id = 'ada'`, [put('left/2')]],
  ['a reason to exclude a row for another user disappears', `delete from seen where user_id = 'ben'`, []],
  ['NOT IN meets a null', `insert into comment values (30, null, 1, 'null')`, [del('silent/3'), del('silent/4')]],
  ['row numbers shift', `update issue set title = 'a first' where id = 2`, [
    put('assigned/2', { title: 'a first', name: 'ann', boss: 'ben' }),
    put('ranked/a/1', { state: 'a', place: 2 }),
    put('ranked/a/2', { state: 'a', place: 1 }),
  ]],
  ['a row moves between partitions', `update issue set state = 'b' where id = 1`, [
    put('ranked/a/2', { state: 'a', place: 1 }),
    del('ranked/a/1'),
    put('ranked/b/1', { state: 'b', place: 2 }),
    del('ranked/b/3'),
  ]],
  ['the other side of a full join is inserted', `insert into spent values (1, 9); insert into planned values (3, 4)`, [
    put('both/1', { planned: 8, spent: 9 }),
    put('both/3', { planned: 4, spent: 6 }),
  ]],
  ['one side of a full join is inserted', `insert into spent values (9, 1)`, [put('both/9', { planned: null, spent: 1 })]],
  ['one side of a full join is deleted', `delete from planned where day < 3`, [del('both/1'), put('both/2', { planned: null, spent: 5 })]],
  ['the sides of a full join separate', `update planned set day = 4 where day = 2`, [
    put('both/2', { planned: null, spent: 5 }),
    put('both/4', { planned: 8, spent: null }),
  ]],
  ['a key changes', `update issue set id = 5 where id = 3`, [
    del('assigned/3'), del('free/3'), del('counted/3'), del('open/3'), del('silent/3'), del('ranked/b/3'), del('left/3'), del('twice/3'),
    put('assigned/5', { title: 'three', name: null, boss: null }),
    put('free/5'), put('counted/5', { n: 0 }), put('open/5'), put('silent/5'), put('ranked/b/5', { state: 'b', place: 2 }), put('left/5'),
    put('twice/5', { n: null, same: null }),
  ]],
])('a delta is exact when %s', async (_, change, ops) => {
  expect(inOrder(await delta(change))).toEqual(inOrder(ops));
}); // biome-ignore format: changes and ops

it('a delta is exact when more partitions change than are evaluated individually', async () => {
  await database.pool.query(`insert into issue select n, 1, 'c', 'many' from generate_series(100, 599) n`);
  await client.pull();
  const ops = await delta(`update person set name = 'ANN' where id = 1`);
  expect(ops).toHaveLength(502);
  expect(await delta(`update comment set issue_id = 100 + id where id < 20`)).not.toHaveLength(0);
});

it('a delta is exact when many partitions depend on old rows of several tables', async () => {
  await database.pool.query(`
    insert into issue select n, 1 + n % 3, 'c', 'many ' || n from generate_series(100, 599) n;
    insert into comment select 1000 + n, n, 1, 'many' from generate_series(100, 599) n;
    insert into planned select n, 8 from generate_series(100, 399) n;
    insert into spent select n, 5 from generate_series(300, 599) n`);
  await client.pull();
  const ops = await delta(`
    update issue set title = 'more ' || id, assignee_id = 1 + id % 2 where id % 5 > 0;
    delete from issue where id % 50 = 0;
    update comment set issue_id = issue_id + 1 where id % 4 > 0;
    update person set name = name || '!';
    insert into seen select 'ada', n from generate_series(101, 599) n where n % 7 > 0;
    delete from planned where day % 2 = 0; update spent set day = day + 1000 where day % 3 > 0`);
  expect(ops.length).toBeGreaterThan(2000);
});

it('a transaction that was open at the previous pull is sent once it commits', async () => {
  const writer = await database.pool.connect();
  await writer.query(`begin; insert into comment values (40, 4, 1, 'late')`);
  expect(await delta(`update person set name = 'BEN' where id = 2`)).toHaveLength(2);
  await writer.query('commit');
  writer.release();
  const ops = await delta('select 1');
  expect(ops).toContainEqual(put('counted/4', { n: 1 }));
  expect(ops).toContainEqual(del('silent/4'));
});

it('a group without a key fails the pull with an error that names the view', async () => {
  const bare = {
    bare: view(() => sql`select issue_id as id, count(*)::int as n from comment group by issue_id`),
  };
  const other = new PullServer(database.url, bare);
  const failure = 'a row of the view "bare" has no key';
  try {
    const { cookie } = await other.pull(null);
    await database.pool.query('insert into comment values (50, null, 1, null)');
    await expect(other.pull(cookie)).rejects.toHaveProperty('cause.message', expect.stringContaining(failure));
  } finally {
    await other.close();
  }
});
