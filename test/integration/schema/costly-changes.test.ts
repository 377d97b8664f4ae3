/** When it starts, a server warns of views for which any change of a large table requires a comparison. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSync, defineView, migrate, type SqlQuery, sql } from '../../../packages/tidemark/src/index.js';
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

async function warningsFor(query: SqlQuery<{ id: number }>): Promise<unknown[]> {
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
  [
    'warns about a total over a large table',
    sql`select count(*)::int as id from issue`,
    [{ table: 'public.issue', rows: 20 }],
  ],
  [
    'warns about an uncorrelated subquery over a large table',
    sql`select i.id, (select count(*) from person) as people from issue i`,
    [{ table: 'public.person', rows: 12 }],
  ],
  [
    'does not warn about an uncorrelated subquery over a small table',
    sql`select s.id, (select count(*) from setting) as n from setting s`,
    [],
  ],
  [
    'does not warn about an outer join',
    sql`select i.id, p.name from issue i left join person p on p.id = i.assignee_id`,
    [],
  ],
  ['does not warn about the first rows in an order', sql`select id from issue order by id limit 3`, []],
])('createSync %s', async (_, query, warnings) => {
  expect(await warningsFor(query)).toEqual(warnings.map((one) => ({ level: 'warn', view: 'v', ...one })));
});
