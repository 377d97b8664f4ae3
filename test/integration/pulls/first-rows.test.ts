/** Deltas of views that show the first rows of a query, op by op. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sql } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, fullRead, type Op, PullServer, SyncClient } from '../../support/synced.js';

const ddl = `
  create table issue (id int primary key, project_id int not null, points int, title text not null);
  create table comment (id int primary key, issue_id int);
  create table note (id int primary key, kind text);
  create index on comment (issue_id); create index on issue (project_id, points);`;

const view = (query: ReturnType<typeof sql>) => defineView<{ id: number }>({ key: 'id', query: () => query as never });

const views: Views<Context> = {
  top: view(sql`select id, title, points from issue where project_id = 1 order by points desc nulls last limit 3`),
  second: view(
    sql`select id, points from issue where project_id = 1 order by points desc nulls last, id limit 2 offset 2`,
  ),
  busiest: view(sql`select i.id, (select count(*)::int from comment c where c.issue_id = i.id) as n from issue i
    order by (select count(*) from comment c where c.issue_id = i.id) desc, i.id limit 2`),
  grouped: view(
    sql`select issue_id as id, count(*)::int as n from comment where issue_id is not null group by issue_id order by count(*) desc, 1 limit 2`,
  ),
  ranked: view(
    sql`select x.id, x.place::int as place from (select id, kind, row_number() over (partition by kind order by id desc) as place from note) x
      order by x.place, x.id limit 2`,
  ),
  either: view(sql`select id from issue where points > 25 union select issue_id from comment order by id limit 3`),
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

/** In order: issues 5, 4, 3, 2 and 1, with 50, 40, 30, 20 and no points. */
const start = `
  delete from issue; delete from comment; delete from note;
  insert into note values (1, null), (2, null), (3, 'a');
  insert into issue select n, 1, case when n > 1 then 10 * n end, 'issue ' || n from generate_series(1, 5) n;
  insert into comment values (10, 2), (11, 2), (12, 4), (13, 1), (14, 1), (15, 1);`;

beforeEach(async () => {
  await database.pool.query(start);
  client = new SyncClient(server);
  await client.pull();
});

async function delta(change: string): Promise<readonly Op[]> {
  await database.pool.query(change);
  const { patch } = await client.pull();
  expect(client.held()).toEqual(await fullRead(server));
  return patch;
}

const put = (key: string, value: object = {}): Op => ({
  op: 'put',
  key,
  value: { id: Number(key.split('/').at(-1)), ...value },
});
const del = (key: string): Op => ({ op: 'del', key });
const inOrder = (ops: readonly Op[]) => ops.map((op) => JSON.stringify(op)).sort();

it.each<[name: string, change: string, ops: Op[]]>([
  ['a row among the first changes', `update issue set title = 'changed' where id = 4`, [put('top/4', { title: 'changed', points: 40 })]],
  ['a row outside the limit changes', `update issue set title = 'changed', points = 15 where id = 1`, []],
  ['a row moves to the front', `update issue set points = 60 where id = 1`, [
    put('top/1', { title: 'issue 1', points: 60 }),
    del('top/3'),
    put('second/4', { points: 40 }),
    del('second/2'),
  ]],
  ['the first row is deleted', 'delete from issue where id = 5', [
    del('top/5'),
    put('top/2', { title: 'issue 2', points: 20 }),
    put('second/1', { points: null }),
    del('second/3'),
  ]],
  ['a row before the offset leaves the view', 'update issue set project_id = 2 where id = 4', [
    del('top/4'),
    put('top/2', { title: 'issue 2', points: 20 }),
    put('second/1', { points: null }),
    del('second/3'),
  ]],
  ['two rows swap their positions', 'update issue set points = 90 - points where id in (4, 5)', [
    put('top/4', { title: 'issue 4', points: 50 }),
    put('top/5', { title: 'issue 5', points: 40 }),
  ]],
  ['rows are tied at the limit', 'update issue set points = 30 where id in (1, 2)', [
    put('top/1', { title: 'issue 1', points: 30 }),
    del('top/3'),
    put('second/1', { points: 30 }),
    put('second/2', { points: 30 }),
    del('second/3'),
  ]],
  ['all of the first rows are deleted', 'delete from issue where id > 2', [
    del('top/3'), del('top/4'), del('top/5'),
    put('top/1', { title: 'issue 1', points: null }), put('top/2', { title: 'issue 2', points: 20 }),
    del('second/2'), del('second/3'),
    del('either/3'), put('either/4'),
  ]],
  ['another table changes the order of rows', 'insert into comment values (20, 4), (21, 4), (22, 4)', [
    put('busiest/4', { n: 4 }),
    del('busiest/2'),
    put('grouped/4', { n: 4 }),
    del('grouped/2'),
  ]],
  ['a group is emptied', 'delete from comment where issue_id = 1', [
    del('busiest/1'), put('busiest/4', { n: 1 }),
    del('grouped/1'), put('grouped/4', { n: 1 }),
    del('either/1'), put('either/4'),
  ]],
  ['rows are inserted into a group without a value', 'insert into comment values (20, null), (21, null), (22, null), (23, null); delete from comment where id in (10, 11)', [
    del('busiest/2'), put('busiest/4', { n: 1 }),
    del('grouped/2'), put('grouped/4', { n: 1 }),
    del('either/2'), put('either/4'),
  ]],
  ['a row is inserted into a partition without a value', 'insert into note values (4, null)', [put('ranked/4', { place: 1 }), del('ranked/2')]],
  ['a row moves to the front and back', 'update issue set points = 60 where id = 1; update issue set points = null where id = 1', []],
])('a delta is exact when %s', async (_, change, ops) => {
  expect(inOrder(await delta(change))).toEqual(inOrder(ops));
}); // biome-ignore format: changes and ops

it('a delta is exact when more rows change than are read individually', async () => {
  await database.pool.query(`insert into issue select n, 1, 1000 + n, 'many' from generate_series(100, 599) n`);
  await client.pull();
  const ops = await delta('update issue set points = points + 1 where id >= 100');
  expect(ops).toHaveLength(3 + 2);
  expect(await delta('delete from issue where id >= 100')).toHaveLength(6 + 4);
});
