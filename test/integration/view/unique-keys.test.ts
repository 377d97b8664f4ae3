import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { analyze } from '../../../packages/tidemark/src/view/analyze.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createEmptyDatabase();
  db = openPool(database.url);
  await database.pool.query(`
    create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create table list (id text primary key, owner text not null);
    create table share (list text, usr text, primary key (list, usr));
    create table todo (id int primary key, list text not null, loose text collate loose, title varchar(20));
    create table code (id varchar(20) primary key, todo bigint not null)`);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const mayRepeat = async (text: string) => (await analyze(db, text, ['id'])).keysMayRepeat;

describe('a key that identifies a row', () => {
  it.each([
    'select * from todo',
    'select id from todo where list in (select list from share where usr = $1)',
    'select t.* from todo t join list l on l.id = t.list',
    'select t.* from list l join todo t on t.list = l.id where l.owner = $1',
    'select t.* from todo t, list l, share s where l.id = t.list and s.list = l.id and s.usr = $1',
    'select t.* from todo t join share s using (list) where s.usr = $1::text',
    'select t.* from todo t left join list l on l.id = t.list left join share s on s.list = l.id and s.usr = $1',
    'select c.* from code c join todo t on t.id = c.todo',
    'select t.id from todo t join code c on c.id = t.title',
    `select x.* from share s cross join lateral (select * from todo t where t.list = s.list order by t.id limit 3) x where s.usr = $1`,
    `select 'todo-' || id as id from todo`,
    'select id::text as id from todo',
    'select list as id, count(*) from todo group by list',
    'select l.id, l.owner, count(*) from list l join todo t on t.list = l.id group by l.id',
    'select l.id, max(t.id) from list l left join todo t on t.list = l.id group by l.id, l.owner',
    'select distinct on (list) list as id, title from todo order by list, id',
    'select distinct list as id from todo',
    'select id from list union select list from todo',
    'select t.id from todo t join (select list, count(*) from share group by list) s on s.list = t.list',
    'select t.id, s.n from todo t left join lateral (select count(*) as n from share s where s.list = t.list) s on true',
    'select 1 as id',
    'select count(*) as id from todo',
    'select id from todo order by id limit 10',
    'select t.id from todo t cross join (select max(id) from todo) m',
  ])('is recognized: %s', async (text) => {
    expect(await mayRepeat(text)).toBe(false);
  });
});

describe('a key that might not identify a row', () => {
  it.each([
    'select x.* from share s cross join lateral (select * from todo t where t.list = s.list order by t.id limit 3) x',
    'select x.* from share s cross join lateral (select * from todo t where t.list > s.list order by t.id limit 3) x where s.usr = $1',
    'select coalesce(x.id, 0) as id from share s left join lateral (select * from todo t where t.list = s.list order by t.id limit 3) x on true where s.usr = $1',
    'select x.id from share s left join lateral (select * from todo t where t.list = s.list order by t.id limit 3) x on true where s.usr = $1',
    'select id from list union all select list from todo',
    'select id, owner from list union select list, title from todo',
    'select t.* from todo t join share s on s.list = t.list',
    'select t.* from todo t, list l',
    'select t.* from todo t left join share s on s.list = t.list',
    'select list as id from todo',
    'select distinct list as id, title from todo',
    'select list as id, title from todo group by list, title',
    'select l.id from list l left join todo t on l.id = t.list and t.id = 1 and l.owner = $1 right join share s on s.list = l.id',
    'select t.list as id from list l left join todo t on t.id = 1',
    'select t.id from todo t left join list l on l.id <> t.list',
    'select t.id from todo t join list l on l.id = t.loose',
    'select t.id from todo t join list l on l.id = t.list or l.owner = $1',
    'select t.id from todo t join list l on not (l.id = t.list)',
    'select id, generate_series(1, 2) as n from todo',
    'select t.id from todo t, unnest($1::int[]) n',
    'with l as (select id from list) select t.id from todo t, l',
    'select s.list || s.usr as id from share s',
    `select replace(id, 'a', '') as id from list`,
    'select t.id from todo t join (select list from share) s on s.list = t.list',
    'select case when id = 1 then 2 else id end as id from todo',
    'select id::int as id from list',
  ])('is recognized: %s', async (text) => {
    expect(await mayRepeat(text)).toBe(true);
  });
});
