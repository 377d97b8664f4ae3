import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../packages/tidemark/src/db/database.js';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { analyze as analyzeView } from '../../../packages/tidemark/src/view/analyze.js';
import { cohortSelect } from '../../../packages/tidemark/src/view/compile/cohort-select.js';
import { createEmptyDatabase, createPool, type TestDatabase } from '../../support/database.js';

const analyze = (db: Database, text: string) => analyzeView(db, text, ['id']);

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createEmptyDatabase();
  db = openPool(database.url);
  await database.pool.query(`
    create schema other;
    create table list (id text primary key, owner_id text not null, name text);
    create table share (list_id text, user_id text, primary key (list_id, user_id));
    create table todo (id text primary key, list_id text, title text, sort int, due date, at timestamptz, tags text[]);
    create table other.note (id int primary key, body text);
    create table loose (a int);
    create unlogged table fleeting (id int primary key);
    create table parent (id int primary key);
    create table child (primary key (id)) inherits (parent);
    create table event (id int, day date, primary key (id, day)) partition by range (day);
    create table event_2026 partition of event for values from ('2026-01-01') to ('2027-01-01');
    create table swift (id int primary key) partition by range (id);
    create unlogged table swift_low partition of swift for values from (0) to (10);
    create table secret (id int primary key);
    alter table secret enable row level security;
    alter table secret force row level security;
    create foreign data wrapper nothing;
    create server nowhere foreign data wrapper nothing;
    create foreign table far (id int) server nowhere;
    create view todo_view as select * from todo;
    create materialized view todo_stored as select * from todo;
    create function doubled(n int) returns int language sql immutable as 'select n * 2';
    create function todo_count() returns bigint language sql stable as 'select count(*) from todo';
    create role app_reader;
    grant select on secret to app_reader;
  `);
});

afterAll(async () => {
  await db.close();
  await database.pool.query('drop owned by app_reader; drop role app_reader');
  await database.drop();
});

describe('a monotone query', () => {
  it.each([
    'select * from todo',
    'select id, title as t from todo where list_id = $1 order by sort',
    'select t.id from todo t join list l on l.id = t.list_id where l.owner_id = $1',
    'select t.id from todo t, list l where l.id = t.list_id',
    'select t.id from todo t natural join share',
    'select id from list where owner_id = $1 or id in (select list_id from share where user_id = $1)',
    'select id from todo t where exists (select from list l where l.id = t.list_id and (l.owner_id = $1 or l.id = any (select list_id from share)))',
    'select id from list union all select id from todo',
    'select id from list union select id from todo union select list_id from share',
    'select a.id from todo a join todo b on b.list_id = a.list_id and b.sort < a.sort',
    'select distinct list_id as id from todo',
    'select n.id, doubled(n.id) as d from other.note n',
    'select t.id, tag from todo t cross join lateral unnest(t.tags) as tag',
    'select id, case when sort > 1 then upper(title) else coalesce(title, $1) end as x from (select * from todo where sort is not null) s',
    "select id, to_char(at, 'YYYY') as y, extract(day from due) as d, age(at, at) as a from todo where at > timestamptz '2026-01-01'",
    'select id, day from event where day > $1',
  ])('is incremental: %s', async (text) => {
    const { strategy, isSeparable, select } = await analyze(db, text);
    expect(strategy).toBe('incremental');
    // Pokes require that many users can share such a view.
    expect(isSeparable && cohortSelect(select)).toBeTruthy();
  });
});

describe('a query that can be divided into partitions', () => {
  it.each([
    ['select list_id as id, count(*) as n from todo group by list_id', 'GROUP BY'],
    ['select distinct on (list_id) id from todo order by list_id, sort, id', 'DISTINCT ON'],
    ['select l.id, t.title from list l left join todo t on t.list_id = l.id', 'outer join'],
    ['select id from list where not exists (select from todo where list_id = list.id)', 'under NOT'],
    ['select id from list where id not in (select list_id from share)', 'under NOT'],
    ['select id, (select count(*) from todo where list_id = list.id) as n from list', 'subquery outside'],
    ['select id from list where (select owner_id = $1 from list l where l.id = list.id)', 'subquery outside'],
    ['select id from list where exists (select from todo) = false', 'subquery outside'],
    ['select id from todo where sort >= all (select sort from todo)', 'subquery outside'],
    ['select l.id from list l where row(l.*) in (select s.* from list s)', 'all columns of a row'],
    ['select id from list except select list_id from share', 'EXCEPT'],
    ['select id from list union (select list_id from share intersect select id from todo)', 'INTERSECT'],
    ['select l.id from todo t right join list l on t.list_id = l.id', 'outer join'],
    ['select l.id from list l join (select list_id from todo order by sort limit 1) t on t.list_id = l.id', 'LIMIT'],
    ['select l.id from list l join todo t on not exists (select from share)', 'under NOT'],
    ['select l.id from list l, unnest(array(select id from todo order by id)) t', 'subquery outside'],
    ['select id from list where (select true) in (select false)', 'subquery outside'],
    ['select id from list where id in (select max(list_id) from share)', 'aggregate max'],
    ['select id from list where owner_id = $1 and not exists (select from todo where list_id = list.id)', 'under NOT'],
    ['select id, xmlelement(name r)::text as r from list', 'XmlExpr'],
    ['with mine as (select * from list where owner_id = $1) select id from mine', 'WITH'],
    ['select id from list where id in (select list_id from todo group by list_id having count(*) > 1)', 'GROUP BY'],
    ['select id from todo order by sort, id limit 10', 'LIMIT'],
    ['select id from todo where list_id = $1 order by sort desc nulls last offset $2 limit $3', 'LIMIT'],
    ['select id from list union select list_id from todo order by id limit 3', 'LIMIT'],
    ['select list_id as id, count(*) as n from todo group by list_id order by count(*) desc limit 3', 'GROUP BY'],
  ])('is keyed: %s', async (text, reason) => {
    const analysis = await analyze(db, text!);
    expect(analysis.strategy).toBe('keyed');
    expect(analysis.reason).toContain(reason);
  });
});

describe('a query that cannot be divided into partitions', () => {
  it.each([
    ['select max(sort) as id from todo', 'aggregate max'],
    ['select count(*) filter (where sort > 1) as id from todo', 'aggregate count'],
    ['select id from todo order by sort, id offset 3', 'OFFSET'],
    ['select id from todo order by sort fetch first 3 rows with ties', 'LIMIT'],
    ['select upper(title) as id from todo order by sort, id limit 10', 'LIMIT'],
    ['select id, row_number() over (order by id) as n from todo', 'window function row_number'],
    ["select 'a' as id from todo having true", 'HAVING'],
    ['select id from todo window w as (order by id)', 'WINDOW'],
    ["select v.id from list join (values ('a'), ('b')) v (id) on v.id = list.id", 'VALUES'],
    ["select j.id from todo, xmltable('/r' passing xmlelement(name r) columns id int) j", 'RangeTableFunc'],
  ])('is compared: %s', async (text, reason) => {
    const analysis = await analyze(db, text!);
    expect(analysis.strategy).toBe('compare');
    expect(analysis.reason).toContain(reason);
  });
});

describe('analyze', () => {
  it.each([
    ['selec 1', 'does not parse'],
    ['select 1; select 2', 'exactly one statement'],
    ['', 'does not parse'],
    ["insert into list values ('a', 'b')", 'must be a SELECT'],
    ['with gone as (delete from todo returning *) select id from gone', 'A view can only read'],
    ['select id into copied from todo', 'Remove'],
    ['select id from todo for update', 'Remove the locking clause'],
    ['select id from todo tablesample system (10)', 'TABLESAMPLE'],
    ['select id from only todo', 'Remove ONLY'],
    ['select id from todo limit 10', 'Add an ORDER BY'],
    ['select id from list where id in (select list_id from todo limit 1)', 'Add an ORDER BY'],
    ['select distinct on (list_id) id from todo', 'DISTINCT ON without ORDER BY'],
    ['select list_id as id, array_agg(title) as titles from todo group by list_id', 'ORDER BY …'],
    ['select id from todo where due = current_date', 'Pass the value as a parameter'],
    ['select id from todo where at > now()', 'now()'],
    ["select id from todo where at > 'now'::timestamptz", 'changes without a write'],
    ["select id from todo where due = date 'today'", 'changes without a write'],
    ['select id, age(at) as a from todo', 'age()'],
    ['select id, random() as r from todo', 'random()'],
    ['select id, gen_random_uuid() as r from todo', 'gen_random_uuid()'],
    ["select id from todo where list_id = current_setting('app.list')", 'current_setting()'],
    ['select id, todo_count() as n from todo', 'declare it IMMUTABLE'],
    ['select id from missing', 'there is no table missing'],
    ['select a as id from loose', 'has no primary key'],
    ['select id from fleeting', 'which is UNLOGGED'],
    ['select id from parent', 'which has INHERITS children'],
    ['select id from child', 'NO INHERIT'],
    ['select id from swift', 'whose partition swift_low is UNLOGGED'],
    ['select id from event_2026', 'Read its parent table'],
    ['select id from todo_view', 'SQL view'],
    ['select id from todo_stored', 'materialized view'],
    ['select oid as id from pg_class', 'system catalog'],
    ['select feature_id as id from information_schema.sql_features', 'system catalog'],
    ['select id from far', 'which is not an ordinary table'],
    ['select id from other.missing', 'there is no table other.missing. Create it or correct the name'],
    ['select id from other.note join missing using (id)', 'there is no table missing'],
    ['select id, title as id from todo', 'it has two columns named id. Rename one of them with AS'],
    ['select id, 1 + 1 from todo', 'it has a column without a name. Name it with AS'],
    [
      "select $1 as n, coalesce($1::text, '-') || grouping($1) as id from todo group by cube ($1)",
      'Write the type at every occurrence',
    ],
    ['select title, sort from todo', 'names the column id, which the query does not return. It returns: title, sort'],
  ])('refuses a query, and says what to do: %s', async (text, message) => {
    await expect(analyze(db, text)).rejects.toThrow(message);
  });

  it('refuses a view without a key', async () => {
    await expect(analyzeView(db, 'select id from todo', [])).rejects.toThrow(
      'it has no key. Name one or more columns that identify a row',
    );
  });

  it('refuses a temporary table', async () => {
    const pool = createPool(database.url, 1);
    await pool.query('create temporary table passing (id int primary key)');
    await expect(analyze(openPool(pool), 'select id from passing')).rejects.toThrow('which is a temporary table');
    await pool.end();
  });

  it('refuses a table with row-level security for the connected role', async () => {
    await database.pool.query("alter role app_reader login password 'x'");
    const address = new URL(database.url);
    address.username = 'app_reader';
    address.password = 'x';
    const reader = openPool(address.href);
    await expect(analyze(reader, 'select id from secret')).rejects.toThrow('row-level security');
    await reader.close();
  });
});

describe('the tables of a query', () => {
  it('are distinguished from WITH queries of the same name', async () => {
    const { tables } = await analyze(
      db,
      'with todo as (select * from todo where sort = 1) select todo.* from todo, list',
    );
    expect(tables.map((table) => table.name)).toEqual(['todo', 'list']);
  });

  it('do not include the references of a recursive WITH query to itself', async () => {
    const text = `with recursive up as (select id, list_id from todo where id = $1
      union all select t.id, t.list_id from todo t join up on up.list_id = t.id) select * from up`;
    expect((await analyze(db, text)).tables.map((table) => table.name)).toEqual(['todo', 'todo']);
  });

  it('are returned with their keys, columns and partitions', async () => {
    const { tables } = await analyze(db, 'select * from event');
    expect(tables[0]).toMatchObject({
      columns: ['id', 'day'],
      primaryKey: [
        { name: 'id', type: 'integer' },
        { name: 'day', type: 'date' },
      ],
      parts: [{ name: 'event' }, { name: 'event_2026' }],
    });
  });
});
