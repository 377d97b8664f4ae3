/** Queries that are easy to get wrong. After each write, a client that has pulled holds what a new one receives. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqlQuery } from '../../../packages/tidemark/src/sql.js';
import { defineView, type Views } from '../../../packages/tidemark/src/view/define.js';
import type { TestDatabase } from '../../support/database.js';
import { type Context, createSynced, fullRead, PullServer, SyncClient, tableView } from '../../support/synced.js';

const ddl = `
  create schema o;
  create table t (id int primary key, x int, s text, p numeric, f float8);
  create table o.t (id int primary key, x int);
  create table item (id int primary key, sort int, label text collate "C", code char(5), flags bit(3));
  create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create table tag (id int primary key, name text collate loose);
  create domain level as numeric not null check (value > 0);
  create table note (id int primary key, t_id int, body text);
  create function doubled(t) returns int language sql immutable as 'select $1.x * 2';
  create function named(record) returns text language plpgsql immutable as $$ begin return 'a record'; end $$;
  create function named(t) returns text language sql immutable as $$ select 'a t' $$;`;

const everyTable = Object.fromEntries(
  ['t', 'o.t', 'item', 'tag', 'note'].map((table) => [table, tableView(table, 'id', `${table}/`)]),
);
let database: TestDatabase;

beforeAll(async () => {
  database = await createSynced(ddl, everyTable);
});
afterAll(() => database.drop());

interface Case {
  readonly name: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly key?: readonly string[];
  /** Each is followed by a pull. */
  readonly writes: readonly string[];
}

async function converges({ text, values = [], key = ['id'], writes }: Case): Promise<Record<string, unknown>> {
  const query = (): SqlQuery<Record<string, unknown>> => ({ text, values });
  const views: Views<Context> = { v: defineView<Record<string, unknown>>({ query, key, prefix: '' }) };
  const server = new PullServer(database.pool, views);
  try {
    const client = new SyncClient(server);
    await client.pull();
    for (const write of writes) {
      await database.pool.query(write);
      await client.pull();
      expect(client.held(), write).toEqual(await fullRead(server));
    }
    expect(server.lines.lines.filter(({ level }) => level === 'error')).toEqual([]);
    return client.held();
  } finally {
    await server.close();
    await database.pool.query('delete from t; delete from o.t; delete from item; delete from tag; delete from note');
  }
}

describe('table names', () => {
  it('with a schema are not captured by an inner table of the same name', async () => {
    const text = 'select o.t.id from o.t where exists (select 1 from public.t where public.t.x = o.t.id)';
    const writes = [
      'insert into o.t values (1, 1), (2, 2)',
      'insert into public.t values (1, 7)',
      'insert into public.t values (9, 2)',
      'delete from public.t where id = 9',
    ];
    expect(await converges({ name: '', text, writes: writes.slice(0, 3) })).toEqual({ 2: { id: 2 } });
    expect(await converges({ name: '', text, writes })).toEqual({});
  });

  it('with a schema are not captured in a view that is not incremental', async () => {
    const text = 'select o.t.id, (select count(*) from t where t.x = o.t.id) as n from o.t';
    const writes = ['insert into o.t values (1, 1), (2, 2)', 'insert into public.t values (1, 7), (2, 1)'];
    expect(await converges({ name: '', text, writes })).toEqual({ 1: { id: 1, n: 1 }, 2: { id: 2, n: 0 } });
  });

  it('may repeat if no column refers to them', async () => {
    const text = 'select s as id, x from (select 1 as x from o.t, public.t) a, item, (select s from t) b';
    const writes = ["insert into o.t values (1, 5); insert into t values (5, 50, 's'); insert into item values (1)"];
    expect(await converges({ name: '', text, writes })).toEqual({ s: { id: 's', x: 1 } });
  });

  it.each(['k1', 'key', 'value', 'other', 'is_after', 'seat', 'p1'])(
    'can refer to whole rows even if internal SQL uses the name %s',
    async (name) => {
      const text = `select distinct (${name}).name as id from item as ${name} (id, sort, name)`;
      const writes = [
        "insert into item values (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'b')",
        "update item set label = 'c' where id < 3",
        "update item set label = 'a' where id = 3",
      ];
      expect(await converges({ name: '', text, writes })).toEqual({ a: { id: 'a' }, c: { id: 'c' } });
    },
  );

  it('with a schema distinguish two tables of the same name', async () => {
    const text = 'select o.t.id, public.t.x from o.t join public.t on public.t.id = o.t.x';
    const writes = ['insert into o.t values (1, 5)', 'insert into t values (5, 50)', 'update t set x = 51'];
    expect(await converges({ name: '', text, writes })).toEqual({ 1: { id: 1, x: 51 } });
  });
});

describe('parameters', () => {
  const items = 'insert into item values (1, 9, $$a$$), (2, 10, $$b$$), (3, 100, $$c$$)';

  it.each<Case>([
    {
      name: 'may occur only in a WITH query that nothing reads',
      text: 'with w as (select $1 as a, id from t) select id, (select max(x) from t where t.id = i.id) as x from item i where sort = $2',
      values: ['a', 9],
      writes: [items, 'insert into t values (1, 3)', 'update t set x = 4'],
    },
    {
      name: 'have one type in all places',
      text: 'select id from item where sort >= $1 and $1 >= $2',
      values: [10, 9],
      writes: [items],
    },
    {
      name: 'are returned with their type',
      text: 'select i.id, $1 as level from (select * from item where sort >= $1) i',
      values: [10],
      writes: [items],
    },
    {
      name: 'can be added',
      text: 'select id from item where sort >= $1 and sort < $1 + $2',
      values: [9, 2],
      writes: [items],
    },
    {
      name: 'can be subscripted',
      text: 'select id from item where sort = any ($1) and sort < $1[2]',
      values: [[9, 10]],
      writes: [items],
    },
  ])('$name', async (one) => {
    const result = await converges(one);
    expect(Object.keys(result).length).toBeGreaterThan(0);
    if (one.text.includes('level')) expect(result).toEqual({ 2: { id: 2, level: 10 }, 3: { id: 3, level: 10 } });
    if (one.text.includes('$1 >= $2')) expect(Object.keys(result)).toEqual(['2', '3']);
    if (one.text.includes('$1 + $2')) expect(Object.keys(result)).toEqual(['1', '2']);
  });

  it('can have a domain type that forbids null', async () => {
    const text = 'select id, $1::level as l from item where sort >= $1::level';
    expect(await converges({ name: '', text, values: [10], writes: [items] })).toEqual({
      2: { id: 2, l: 10 },
      3: { id: 3, l: 10 },
    });
  });

  it('are not confused with grouping expressions of equal value', async () => {
    const text = `select coalesce(sort + $2, 0)::text || grouping(sort + $2) as id, $1::int as a, 8 as b
      from item group by rollup (sort + $2, $2::int)`;
    const result = await converges({ name: '', text, values: [8, 8], writes: ['insert into item values (1, 9)'] });
    expect(result).toEqual({ '01': { id: '01', a: 8, b: 8 }, '170': { id: '170', a: 8, b: 8 } });
  });

  it('are the same expression in all places once each has its type', async () => {
    const text = `select $1::text as a, 'g' || grouping($1::text) as id from item group by cube ($1::text)`;
    const result = await converges({ name: '', text, values: ['v'], writes: ['insert into item values (1, 9)'] });
    expect(result).toEqual({ g0: { id: 'g0', a: 'v' }, g1: { id: 'g1', a: null } });
  });

  it('directly after an operator do not become a Unicode string', async () => {
    const text = 'select id from item where (sort&$1) > 0';
    expect(await converges({ name: '', text, values: [8], writes: [items] })).toEqual({ 1: { id: 1 }, 2: { id: 2 } });
  });
});

describe('ties and duplicates', () => {
  it('are resolved deterministically by expressions that read tables', async () => {
    const notes = '(select count(*) from note n where n.t_id = t.id)::text';
    const text = `select x as id, jsonb_object_agg(${notes}, s) as d, (select max(label) from item) as l from t group by x`;
    const writes = [
      "insert into t values (1, 7, 'a'), (2, 7, 'b'), (3, 8, 'c')",
      "insert into item values (1, 1, 'l'); insert into note values (1, 2)",
      'insert into note values (2, 3)',
      "update item set label = 'm'",
      'update note set t_id = 1',
    ];
    const result = await converges({ name: '', text, writes });
    expect(result).toEqual({ 7: { id: 7, d: { 0: 'b', 2: 'a' }, l: 'm' }, 8: { id: 8, d: { 0: 'c' }, l: 'm' } });
  });

  const rows = (table: string) => `insert into ${table} select n, n % 2, 's' from generate_series(1, 40) n`;

  it.each<Case>([
    {
      name: 'DISTINCT ON',
      text: 'select distinct on (x) x as id, id as first from t order by x, s',
      writes: [
        rows('t'),
        'delete from t where id in (1, 2)',
        'update t set s = s where id > 20',
        "insert into t values (0, 0, 's')",
      ],
    },
    {
      name: 'row_number()',
      text: 'select id, row_number() over (partition by x order by s) as n from t',
      writes: [rows('t'), 'delete from t where id = 3', 'update t set s = s', "insert into t values (0, 0, 's')"],
    },
    {
      name: 'sums of floats and arrays',
      text: `select x as id, sum(f) as f, array_agg(s order by x) as a, array(select n.body from note n where n.t_id = t.x order by n.t_id) as b from t group by x`,
      writes: [
        'insert into t select n, n % 2, n::text, 1, 10 ^ (n % 17) + 0.1 from generate_series(1, 60) n',
        'insert into note select n, n % 2, n from generate_series(1, 30) n',
        'update t set s = s where id % 3 = 0',
        'delete from t where id = 17',
      ],
    },
    {
      name: 'GROUP BY a case-insensitive text alone',
      text: 'select name as id from tag group by name',
      writes: [
        "insert into tag values (1, 'a'), (2, 'A'), (3, 'b'), (4, 'B')",
        "update tag set name = 'A' where id < 3",
        "update tag set name = 'c'",
      ],
    },
    {
      name: 'array_agg over case-insensitive texts',
      text: `select lower(name) collate "C" as id, array_agg(name order by name collate "C")::text as names from tag group by name`,
      key: ['names'],
      writes: [
        "insert into tag values (1, 'a'), (2, 'A'), (3, 'b'), (4, 'B')",
        'update tag set name = name where id = 1',
        "update tag set name = 'c'",
      ],
    },
    {
      name: 'a nested LIMIT',
      text: 'select id from note where t_id in (select id from t order by s limit 5)',
      writes: [
        rows('t'),
        'insert into note select n, n from generate_series(1, 40) n',
        'update t set x = x',
        'delete from t where id = 1',
      ],
    },
    {
      name: 'DISTINCT over 1.0 and 1.00',
      text: 'select distinct p as id from t',
      writes: [
        "insert into t values (1, 1, '', 1.0), (2, 1, '', 1.00)",
        'delete from t where id = 1',
        "insert into t values (1, 1, '', 1.0)",
        'delete from t where id = 2',
        'delete from t',
      ],
    },
    {
      name: 'UNION over -0 and 0',
      text: 'select x as id, f from t where id < 10 union select x, f from t where id >= 10',
      writes: [
        "insert into t values (1, 1, '', 1, '-0'), (11, 1, '', 1, 0)",
        'delete from t where id = 1',
        "insert into t values (1, 1, '', 1, '-0')",
        'delete from t where id = 11',
      ],
    },
    {
      name: 'GROUP BY over 1.0 and 1.00',
      text: 'select p as id, count(*) as n from t group by p',
      writes: [
        "insert into t values (1, 1, '', 1.0), (2, 1, '', 1.00)",
        'delete from t where id = 1',
        "insert into t values (1, 1, '', 1.0)",
        'update t set x = x where id = 2',
        'delete from t where id = 2',
      ],
    },
    {
      name: 'a nested DISTINCT over 1.0 and 1.00',
      text: 'select p as id, x from (select distinct p, x from t) v',
      writes: [
        "insert into t values (1, 1, '', 1.0), (2, 1, '', 1.00)",
        'delete from t where id = 1',
        "insert into t values (1, 1, '', 1.0)",
        'delete from t where id = 2',
      ],
    },
    {
      name: 'max and min over 1.0 and 1.00',
      text: 'select x as id, max(p) as p, min(p) as q from t group by x',
      writes: [
        "insert into t values (1, 1, '', 1.0), (2, 1, '', 1.00)",
        'update t set s = 1 where id = 1',
        'delete from t where id = 1',
      ],
    },
  ])('are resolved deterministically in $name', async (one) => {
    await converges(one);
  });
});

describe('whole rows', () => {
  const writes = [
    "insert into t values (1, 1, 'a'), (2, 2, 'b')",
    "update t set s = 'c' where id = 1",
    'delete from t where id = 2',
  ];

  it.each([
    [
      'can have other names for their columns',
      'select a as id, to_jsonb(y) as j from t y (a, b)',
      { id: 1, j: { id: 1, x: 1, s: 'c', p: null, f: null } },
    ],
    ['can be passed to a function for their type', 'select id, named(t) as n from t', { id: 1, n: 'a t' }],
    ['can be passed in a call that looks like a column', 'select t.id, t.doubled from t', { id: 1, doubled: 2 }],
    [
      'can come from an outer join',
      'select t.id, to_jsonb(n) as j from t left join note n on n.t_id = t.id',
      { id: 1, j: null },
    ],
    [
      'can be counted',
      'select t.id, count(n) as c from t left join note n on n.t_id = t.id group by t.id',
      { id: 1, c: 0 },
    ],
  ])('%s', async (name, text, row) => {
    expect(await converges({ name, text, writes })).toEqual({ 1: row });
  });
});

describe('dates and times in text', () => {
  const text = 'select id, body::timestamptz as at from note';

  it('have the value that the text states', async () => {
    const writes = [
      "insert into note values (1, 1, '2026-01-01Z'), (2, 1, 'infinity')",
      "update note set body = 'epoch' where id = 2",
    ];
    const result = await converges({ name: '', text, writes });
    expect(Object.keys(result)).toEqual(['1', '2']);
  });

  it('fail the pull if their value would change each time', async () => {
    const writes = ["insert into note values (1, 1, ' Now')"];
    const pulls = converges({ name: '', text, writes });
    await expect(pulls).rejects.toHaveProperty('cause.message', expect.stringContaining('its meaning changes'));
  });
});

describe('a group without rows', () => {
  it.each([
    "select 'all' as id, count(*) as n, (select max(x) from t) as x from item where 1 > 2",
    "select 'all' as id, null::boolean in (select true from t where x = 1) as b from item where 1 > 2 group by ()",
    "select coalesce(label, 'all') as id, (select count(*) from t where t.s is not distinct from i.label) as n from item i where sort < 0 group by rollup (label)",
    "select 'all' as id, count(*) as n from item where 1 > 2 having exists (select from t where x = 1)",
    "select 'all' as id, max((select max(s) from t where t.id = i.id)) as s, (select max(x) from t) as x from item i where 1 > 2",
    'select id, (select (select max(x) from t) from item i where 1 > 2 and i.id = n.id having true) as x from note n',
  ])('contains the results of its subqueries: %s', async (text) => {
    const writes = [
      'insert into note values (1)',
      'insert into t values (1, 1)',
      'update t set x = 2',
      'delete from t',
    ];
    await converges({ name: text, text, writes });
  });
});

describe('clients converge on the result of', () => {
  const writes = [
    "insert into t values (1, 1, 'open', 1), (2, 1, 'done', 2), (3, 2, 'shut', 2)",
    "insert into note values (1, 1, 'a'), (2, 1, 'b')",
    "update t set s = 'open' where id = 3",
    'delete from t where id = 1',
  ];

  it.each([
    "select id from t where s in ('open', 'done')",
    "select id, array['a', s] as a from t",
    'select id from t where exists (select from note where t_id = t.id limit (select count(*) from item) + 1 offset 1)',
    'select t.id, t.s, count(n.id) as n from t left join note n on n.t_id = t.id group by t.id',
    'with "My Notes" as (select * from note) select id, (select count(*) from "My Notes" n where n.t_id = t.id) as n from t',
    'select id from t order by x fetch first 1 rows with ties',
    'select public.t.id from t',
    'select public.t.id, t::text as w, public.t.x as t from t order by t offset 1',
    'select distinct on (t) public.t.id, t::text as w, -public.t.x as t from t order by t limit 2',
    'select id from t where exists (select from note where t_id = t.id limit 1)',
    'select x as id, count(*) as n from t group by distinct rollup (x), rollup (x) having x is not null',
    'select id from t union all select id + 100 from note union all select id + 200 from t',
    'select id, last_value(s) over (order by x, id) as l from t',
    'select x as id, jsonb_object_agg(s, id) as o from t group by x',
    'select distinct on (x) x as id, s from (select x, s, 1 / (id - id) as never from t) v order by x',
    'select id, (select n from (select count(*) as n from note group by rollup (t_id) order by n limit 1) g) as n from t',
    'select id, j.a from t, xmltable($$/r$$ passing xmlelement(name r, s) columns a text path $$.$$) j',
    'select t.id, o2.id as b from t join note using (id) as "a b" join note o2 on o2.id = "a b".id',
    'select id from (select id from t where x = 1 union all select t_id from note union all (select id from t where x = 2)) u join note using (id)',
  ])('%s', async (text) => {
    await converges({ name: text, text, writes });
  });
});
