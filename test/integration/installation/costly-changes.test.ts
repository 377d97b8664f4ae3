/** When it starts, a server warns of views that any change of a large table costs a comparison. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSync, defineView, migrate, type SqlQuery, sql } from '../../../src/index.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { memoryLog, silent } from '../../support/log.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query(`
    create table person (id int primary key, name text);
    create table issue (id int primary key, assignee_id int);
    create table setting (id int primary key, color text);
    insert into person select n, 'x' from generate_series(1, 12000) n;
    insert into issue select n, n from generate_series(1, 20000) n;
    insert into setting values (1, 'blue');
    analyze`);
});

afterAll(() => database.drop());

async function warned(query: SqlQuery<{ id: number }>): Promise<unknown[]> {
  const views = { v: defineView<{ id: number }>({ key: 'id', query: () => query }) };
  await migrate({ database: database.url, views, log: silent });
  const { log, lines } = memoryLog();
  const sync = await createSync({ database: database.url, views, authenticate: () => ({ userID: 'ann' }), log });
  await sync.close();
  return lines
    .filter(({ message }) => message.includes('the whole view may be read'))
    .map(({ level, fields }) => ({ level, ...fields, rows: Math.round(Number(fields.rows) / 1000) }));
}

it.each<[string, SqlQuery<{ id: number }>, object[]]>([
  ['a total', sql`select count(*)::int as id from issue`, [{ table: 'public.issue', rows: 20 }]],
  [
    'a subquery that nothing connects',
    sql`select i.id, (select count(*) from person) as people from issue i`,
    [{ table: 'public.person', rows: 12 }],
  ],
  ['a small table', sql`select s.id, (select count(*) from setting) as n from setting s`, []],
  ['an outer join', sql`select i.id, p.name from issue i left join person p on p.id = i.assignee_id`, []],
  ['the first rows', sql`select id from issue order by id limit 3`, []],
])('%s', async (_, query, found) => {
  expect(await warned(query)).toEqual(found.map((one) => ({ level: 'warn', view: 'v', ...one })));
});
