/** What a query becomes before it is served, so that its result is a function of the rows of its tables. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/database.js';
import { openPool } from '../../src/db/pg.js';
import { analyze } from '../../src/view/analyze.js';
import { deparseSelect, parserLoaded, parseSelect } from '../../src/view/parse/syntax.js';
import { createEmptyDatabase, type TestDatabase } from '../database.js';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  await parserLoaded;
  database = await createEmptyDatabase();
  db = openPool(database.url);
  await database.pool.query(`
    create schema o;
    create table t (id int primary key, x int, s text, p numeric, q numeric(9, 2), f float8, doc jsonb, raw json);
    create table o.t (id int primary key, x int);
    create table u (a int, b int, t_id int, primary key (a, b));
    create table tag (tag text primary key, s text);
    create table tidemark_header (id int primary key);
    create table o.wide ("two words" int primary key, ${Array.from({ length: 30 }, (_, i) => `"a name ${i}" int`)});
    create function twice(t) returns int language sql immutable as 'select $1.x * 2';
    create function named(t) returns text language sql immutable as 'select $1.s';
    create aggregate product (int) (sfunc = int4mul, stype = int, initcond = '1');
  `);
});

afterAll(async () => {
  await db.close();
  await database.drop();
});

const whole = (name: string, table = 't', key = 'id') =>
  `case when ${name}.${key} is not null then cast(${name}.* as public.${table}) end`;

const bytes = (value: string) => `cast(${value} as text) collate pg_catalog."C"`;

describe('as it is', () => {
  it.each([
    "select id from t where s in ('open', 'done') and s = any (array['a'])",
    'select t.id, tag.tag from t join tag on tag.s = t.s',
    'select id, count(*) as n from t group by id',
    'select id, max(x) as n from t group by id',
    'select id, max(q) as n from t group by id',
    'select id, rank() over (order by x) as n from t',
    'select id, sum(x) over (partition by s) as n from t',
    'select id, last_value(x) over (order by s, id) as n from t',
    'select a as id, array_agg(x) over (partition by a order by s, b, id) as n from t join u on t_id = id',
    "select s as id, last_value(s) over (order by s || 'x', s) as n from t group by s",
    'select t.id, last_value(x) over (partition by v.y order by g.n, t.id) as n from t, (select tag as y from tag) v, generate_series(1, 3) g (n)',
    'select t.id, last_value(g.v) over (order by t.id, g.n) as n from t, unnest(array[1.0, 1.00]) with ordinality g (v, n)',
    'select t.id, last_value(t.x) over (order by t.id, v.x) as n from t, (select x, max(s) as s from t group by x) v',
    'select id from t where exists (select from u limit 0)',
    'select id from t where exists (select from u limit 1 offset 1)',
    'select id from t where exists (select from u where a = id limit (select x from o.t where id = 1) offset 1)',
    'select x.n as id, x.p from (select row_number() over () as n, $1::int as p from t having $1 > 1) x',
    'select id, sum(x) over (order by s) as n from t',
    'select id from t order by x fetch first 3 rows with ties',
    'select id, array(select unnest(array[x])) as a from t',
    'select distinct id, p from t',
    'select id, p from t where x = 1 union select id, p from t where x = 2',
    'select distinct q as id from t',
    'select id from t where p in (select distinct p from t)',
    'select id, p, count(*) as n from t group by id, p',
    'select id, p from t union all (select id, p from t except select id, p from t where x = 1)',
    'select id from t where exists (select distinct p from t) and p >= all (select distinct p from t)',
    'select id from t where p in (select p from t union select q from t union select 1)',
    "select id, (select string_agg(v, ',') from unnest(array[s, 'b']) v) as l from t",
    'select s as id, percentile_disc(0.5) within group (order by x) as n from t group by s',
    'select s as id, array_agg(distinct x order by x desc) as n from t group by s',
    'select s as id, sum(x) as n, avg(p) as a from t group by s',
    'select id from t where x > 1 group by id order by max(x)',
    'select x as id from generate_series(1, 5) x limit 2',
    'select id from t limit null',
    'select id, (select max(x) from t limit 1) as m, array(select max(x) from t) as a from t',
    'select id, sum(x) over (order by s rows between unbounded preceding and unbounded following) as a from t',
    'select id, dense_rank() over (order by s) as a, percent_rank() over () as b, cume_dist() over (order by s) as c from t',
  ])('%s', async (text) => {
    expect((await analyze(db, text, ['id'])).text).toBe(text);
  });
});

describe('names', () => {
  it.each([
    ['select public.t.id from t', 'select tidemark_t1.id from t as tidemark_t1'],
    [
      'select (t).x as id from public.t where public.t.s = $1',
      'select (tidemark_t1).x as id from public.t as tidemark_t1 where tidemark_t1.s = $1',
    ],
    ['select id from tidemark_header', 'select id from public.tidemark_header'],
    [
      "select coalesce((case when s in ('a', 'b') then public.t.s end)::text, 'x') as id from t",
      "select coalesce(cast(case when s in ('a', 'b') then tidemark_t1.s end as text), 'x') as id from t as tidemark_t1",
    ],
    ['select o.t.* from o.t', 'select tidemark_t1.* from o.t as tidemark_t1'],
    [
      'select o.t.id from o.t where exists (select 1 from public.t where public.t.x = o.t.id)',
      'select tidemark_t1.id from o.t as tidemark_t1 where exists (select 1 from public.t as tidemark_t2 where tidemark_t2.x = tidemark_t1.id)',
    ],
    [
      'select t.id from o.t where exists (select from t where t.x = o.t.id)',
      'select tidemark_t1.id from o.t as tidemark_t1 where exists (select from t where t.x = tidemark_t1.id)',
    ],
    ['select 1 as id from o.t, public.t', 'select 1 as id from o.t as tidemark_t1, public.t as tidemark_t2'],
    [
      'select (select x from o.t where o.t.id = 1) as id from t group by (select x from o.t where o.t.id = 1)',
      'select (select x from o.t as tidemark_t1 where tidemark_t1.id = 1) as id from t group by (select x from o.t as tidemark_t1 where tidemark_t1.id = 1)',
    ],
    ['select o.wide."two words" as id from o.wide', 'select tidemark_t1."two words" as id from o.wide as tidemark_t1'],
    [
      'select o.t.id, o.t.x as y, public.t.s from o.t, public.t',
      'select tidemark_t1.id, tidemark_t1.x as y, tidemark_t2.s from o.t as tidemark_t1, public.t as tidemark_t2',
    ],
  ])('%s', async (text, expected) => {
    expect((await analyze(db, text, ['id'])).text).toBe(deparseSelect(parseSelect(expected)));
  });
});

describe('whole rows', () => {
  it.each([
    ['select id, to_jsonb(t) as j from t', `select id, to_jsonb(${whole('t')}) as j from t`],
    [
      'select a as id, to_jsonb(x) as j from t x (a, b)',
      `select a as id, to_jsonb(${whole('x', 't', 'a')}) as j from t x (a, b)`,
    ],
    ['select id, t.twice from t', `select id, twice(${whole('t')}) from t`],
    ['select id, (t).x as x2 from t', 'select id, (t).x as x2 from t'],
    [
      'select id, (twice(t)) as x2, (t.*)::text as r from t',
      `select id, twice(${whole('t')}) as x2, ${whole('t')}::text as r from t`,
    ],
    [
      'select length(t.named) as id from t group by length(t.named)',
      `select length(named(${whole('t')})) as id from t group by length(named(${whole('t')}))`,
    ],
    [
      'select distinct on (num_nulls(t.*)) id from t order by num_nulls(t.*), id',
      `select distinct on (num_nulls(${whole('t')})) id from t order by num_nulls(${whole('t')}), id, t.id`,
    ],
    ['select id, t from t', `select id, ${whole('t')} as t from t`],
    [
      'select tag as id, to_json(tag.*) as j from tag',
      `select tag as id, to_json(${whole('tag', 'tag', 'tag')}) as j from tag`,
    ],
    [
      'select s.id, to_jsonb(s) as j from (select id from t) s',
      'select s.id, to_jsonb(s) as j from (select id from t) s',
    ],
  ])('%s', async (text, expected) => {
    expect(deparseSelect(parseSelect((await analyze(db, text, ['id'])).text))).toBe(
      deparseSelect(parseSelect(expected)),
    );
  });
});

describe('groups', () => {
  it.each([
    [
      'select t.id, t.s, count(u.a) as n from t left join u on t_id = t.id group by t.id',
      'select t.id, t.s, count(u.a) as n from t left join u on t_id = t.id group by t.id, t.s',
    ],
    [
      'select id, x + 1 as y from t group by id having max(s) > $1 order by s',
      'select id, x + 1 as y from t group by id, x, s having max(s) > $1 order by s',
    ],
    ['select id, s as x from t group by id order by x', 'select id, s as x from t group by id, s order by x'],
    [
      'select id, rank() over (order by s) as r from t group by id having x > 1',
      'select id, rank() over (order by s) as r from t group by id, s, x having x > 1',
    ],
    ['select a as id, u.* from u group by a, b', 'select a as id, u.* from u group by a, b, u.a, u.b, u.t_id'],
    [
      'select id, (select count(*) from u where t_id = t.x) as n from t group by id',
      'select id, (select count(*) from u where t_id = t.x) as n from t group by id, t.x',
    ],
    [
      'select id, exists (select from u where a = (select count(*) from o.wide where x > length(name))) as e from t, (select s as name from tag) z group by id, name',
      'select id, exists (select from u where a = (select count(*) from o.wide where x > length(name))) as e from t, (select s as name from tag) z group by id, name, x',
    ],
    [
      'select id, array(select a from u union all select (select x + a from u as v) order by 1) as l from t group by id',
      'select id, array(select a from u union all select (select x + a from u as v) order by 1, 1) as l from t group by id, x',
    ],
    [
      'select id, (with w as (select a from u where t_id = x) select count(*) from w where s is null) as n from t group by id',
      'select id, (with w as (select a from u where t_id = x) select count(*) from w where s is null) as n from t group by id, x, s',
    ],
    [
      'select v.*, v."the x" as id from tag as v ("the tag", "the x") group by "the tag"',
      'select v.*, v."the x" as id from tag as v ("the tag", "the x") group by "the tag", v."the tag", v."the x"',
    ],
  ])('%s', async (text, expected) => {
    expect((await analyze(db, text, ['id'])).text).toBe(deparseSelect(parseSelect(expected)));
  });
});

describe('ties', () => {
  it.each([
    ['select id from t order by x limit 3', 'select id from t order by x, id limit 3'],
    ['select a as id, b from u order by t_id limit 3', 'select a as id, b from u order by t_id, id limit 3'],
    [
      'select distinct on (s) s as id, x from t order by s, x',
      'select distinct on (s) s as id, x from t order by s, x, t.id',
    ],
    [
      'select distinct on (s, x, p + 1) s as id from t order by x',
      'select distinct on (s, x, p + 1) s as id from t order by x, s, p + 1, t.id',
    ],
    [
      'select distinct on (1, x) s as id from t order by 1 desc limit 3',
      'select distinct on (1, x) s as id from t order by 1 desc, x, t.id limit 3',
    ],
    [
      'select id from t where x in (select t_id from u order by b limit 2)',
      'select id from t where x in (select t_id from u order by b, u.a, u.b limit 2)',
    ],
    ['select id from t where exists (select from u limit 1)', 'select id from t where exists (select from u)'],
    [
      'select id, row_number() over (order by x) as n from t',
      'select id, row_number() over (order by x, t.id) as n from t',
    ],
    ['select id, row_number() over () as n from t', 'select id, row_number() over (order by t.id) as n from t'],
    [
      'select id, lag(x) over w as n, rank() over w as r from t window w as (partition by s order by x)',
      'select id, lag(x) over (partition by s order by x, t.id) as n, rank() over w as r from t window w as (partition by s order by x)',
    ],
    [
      'select id, sum(x) over (order by s rows 2 preceding) as n from t',
      'select id, sum(x) over (order by s, t.id rows 2 preceding) as n from t',
    ],
    [
      'select id, first_value(x) over (order by s) as n from t',
      'select id, first_value(x) over (order by s, t.id) as n from t',
    ],
    [
      'select id, array(select b from u where t_id = id order by b) as bs from t',
      'select id, array(select b from u where t_id = id order by b, u.a, u.b) as bs from t',
    ],
    [
      "select s as id, string_agg(s, ',' order by x) as l from t group by s",
      `select s as id, string_agg(s, ',' order by x, ${bytes('s')}) as l from t group by s`,
    ],
    [
      'select s as id, sum(f) as f from t group by s',
      `select s as id, sum(f order by ${bytes('f')}) as f from t group by s`,
    ],
    [
      'select s as id, max(p) as p from t group by s',
      `select s as id, max(p order by ${bytes('p')}) as p from t group by s`,
    ],
    [
      'select s as id, product(x) as p from t group by s',
      `select s as id, product(x order by ${bytes('x')}) as p from t group by s`,
    ],
    [
      'select s as id, array_agg(distinct x) as p from t group by s',
      'select s as id, array_agg(distinct x order by x) as p from t group by s',
    ],
    [
      'select l.n as id from (select x as n, s from t) l, u order by l.s limit 3',
      'select l.n as id from (select x as n, s from t) l, u order by l.s, id limit 3',
    ],
    [
      'select n as id from (select v.n from (select x as n, s from t) v order by s limit 2) w',
      `select n as id from (select v.n from (select x as n, s from t) v order by s, ${bytes('v.*')} limit 2) w`,
    ],
    [
      'select id from (select x as id from t union all select a from u order by 1 limit 2) w',
      'select id from (select x as id from t union all select a from u order by 1, 1 limit 2) w',
    ],
    [
      'select n as id from (select count(*) as n from t group by s order by n limit 2) w',
      'select n as id from (select count(*) as n from t group by s order by n, s limit 2) w',
    ],
    [
      'select n as id from (select count(*) as n from t group by rollup (s, x), grouping sets ((x, q)), id, () order by n limit 2) w',
      'select n as id from (select count(*) as n from t group by rollup (s, x), grouping sets ((x, q)), id, () order by n, s, x, x, q, id, grouping(s, x, x, q, id) limit 2) w',
    ],
    [
      'select s as id, jsonb_object_agg(s, x) as o from t group by s',
      `select s as id, jsonb_object_agg(s, x order by ${bytes('s')}, ${bytes('x')}) as o from t group by s`,
    ],
    [
      "select id, (select string_agg(b.s, ',' order by b.x) from t b where b.x = t.x) as l from t",
      `select id, (select string_agg(b.s, ',' order by b.x, ${bytes('b.s')}) from t b where b.x = t.x) as l from t`,
    ],
    [
      'select s as id, string_agg(s, $1 order by x) as l from t group by s',
      `select s as id, string_agg(s, $1 order by x, ${bytes('s')}) as l from t group by s`,
    ],
    [
      'select s as id, avg(f) as n, regr_r2(f, x) as r from t group by s',
      `select s as id, avg(f order by ${bytes('f')}) as n, regr_r2(f, x order by ${bytes('f')}, ${bytes('x')}) as r from t group by s`,
    ],
    [
      'select id from (select id, unnest(array[x, x]) as n from t order by x limit 3) v',
      'select id from (select id, unnest(array[x, x]) as n from t order by x, t.id, 1, 2 limit 3) v',
    ],
    [
      'select id from (select a as id from t y (a, b) order by b limit 2) v',
      'select id from (select a as id from t y (a, b) order by b, y.a limit 2) v',
    ],
    [
      'select n as id from (select s as n, count(*) from t group by 1 order by 2 limit 2) w',
      'select n as id from (select s as n, count(*) from t group by 1 order by 2, s limit 2) w',
    ],
    [
      'select distinct on (s) s as id from t order by s limit 3',
      'select distinct on (s) s as id from t order by s, t.id limit 3',
    ],
    [
      'select distinct on (s) s as id from t order by s offset 1 fetch first 3 rows with ties',
      'select distinct on (s) s as id from t order by s, t.id offset 1 fetch first 3 rows with ties',
    ],
    [
      'select id, lead(x) over (order by s) as a, ntile(3) over (order by s) as b from t',
      'select id, lead(x) over (order by s, t.id) as a, ntile(3) over (order by s, t.id) as b from t',
    ],
    [
      'select id, lag(x) over (order by s rows between 1 preceding and 1 following) as a from t',
      'select id, lag(x) over (order by s, t.id) as a from t',
    ],
    [
      'select id, last_value(x) over (order by s range between unbounded preceding and unbounded following) as a from t',
      'select id, last_value(x) over (order by s, t.id range between unbounded preceding and unbounded following) as a from t',
    ],
    [
      'select id, last_value(x) over (order by s rows 1 preceding) as a from t',
      'select id, last_value(x) over (order by s, t.id rows 1 preceding) as a from t',
    ],
    [
      'select id, sum(f) over (order by s rows between unbounded preceding and unbounded following) as a from t',
      'select id, sum(f) over (order by s, t.id rows between unbounded preceding and unbounded following) as a from t',
    ],
    [
      'select id, row_number() over (w order by x) as a, lag(x) over v as b from t window w as (partition by s), v as (w order by p)',
      'select id, row_number() over (partition by s order by x, t.id) as a, lag(x) over (partition by s order by p, t.id) as b from t window w as (partition by s), v as (w order by p)',
    ],
  ])('%s', async (text, expected) => {
    expect((await analyze(db, text, ['id'])).text).toBe(deparseSelect(parseSelect(expected)));
  });
});

describe('duplicates that are equal and not alike', () => {
  it.each([
    ['select distinct p as id from t', 'select p as id from t'],
    ['select id, doc from t union select a, null from u', 'select id, doc from t union all select a, null from u'],
    [
      'select p as id from t union (select 1 union select distinct p from t)',
      'select p as id from t union all (select 1 union all select p from t)',
    ],
    ['select id, p from t union select id, q from t', 'select id, p from t union all select id, q from t'],
    ['select id, p from t union select a, b from u', 'select id, p from t union all select a, b from u'],
    [
      'select p as id from t union (select p from t order by id limit 2)',
      'select p as id from t union all (select p from t order by id, t.id limit 2)',
    ],
  ])('%s', async (text, expected) => {
    expect(await analyze(db, text, ['id'])).toMatchObject({
      text: deparseSelect(parseSelect(expected)),
      choosesByKey: true,
    });
  });
});

describe('values of groups and of nested queries that are equal and not alike', () => {
  const first = (value: string) => `(array_agg(${value} order by ${bytes(value)}))[1]`;
  const one = (inner: string, n: number, on: string) =>
    `select distinct on (${on}) * from (${inner}) tidemark_d${n} order by ${on}, ${bytes(`tidemark_d${n}.*`)}`;

  it.each([
    [
      'select p as id, count(*) as n, max(p) as m from t group by p',
      `select ${first('p')} as id, count(*) as n, max(p order by ${bytes('p')}) as m from t group by p`,
    ],
    [
      'select trunc(p / 2) as id, t.p + 1 as q from t group by p',
      `select trunc(${first('p')} / 2) as id, ${first('p')} + 1 as q from t group by p`,
    ],
    [
      'select f * 2 as id, sum(x) as n from t group by 1 order by f * 2',
      `select ${first('f * 2')} as id, sum(x) as n from t group by f * 2 order by ${first('f * 2')}`,
    ],
    ['select id from (select distinct p as id from t) v', `select id from (${one('select p as id from t', 1, '1')}) v`],
    [
      'select id from (select p as id, x from t union select p, x from t union select 1, 2) v',
      `select id from (${one('select p as id, x from t union all select p, x from t union all select 1, 2', 1, '1, 2')}) v`,
    ],
    ['select p as id from t except select 1', `${`(${one('select p as id from t', 1, '1')})`} except select 1`],
    [
      'select p as id from t except (select p from t intersect select q from t)',
      `(${one('select p as id from t', 1, '1')}) except (select p from t intersect select q from t)`,
    ],
    [
      'select 0.5 as id union all (select p from t except select 2)',
      `select 0.5 as id union all ((${one('select p from t', 1, '1')}) except select 2)`,
    ],
    [
      'select x as id from t union all (select x from t union select q from t)',
      `select x as id from t union all (${one('select x from t union all select q from t', 1, '1')})`,
    ],
    [
      'select v.id from (select distinct p as id from t order by p) v, (select distinct p as n from t) w',
      `select v.id from (${one('select p as id from t', 1, '1')}) v, (${one('select p as n from t', 2, '1')}) w`,
    ],
  ])('%s', async (text, expected) => {
    const settled = (await analyze(db, text, ['id'])).text;
    expect(settled).toBe(deparseSelect(parseSelect(expected)));
  });
});

describe('refused, since the result is left to chance', () => {
  it.each([
    ['select p as id, count(*) as n from t group by rollup (p)', 'groups by values of id'],
    ['select p as id, (select count(*) from u where a = p) as n from t group by p', 'groups by values of id'],
    ['select distinct p as id from t order by p limit 3', 'keeps one of several values of id'],
    ['select p as id from t intersect select p from t', 'keeps one of several values of id'],
    ['select p as id from t except all select 1', 'keeps one of several values of id'],
    ['select 1 as id union all (select p from t intersect select q from t)', 'keeps one of several values of p'],
    [
      'select p as id from t intersect all select p from t',
      'it keeps one of several values of id that can be equal and written differently, such as 1.0 and 1.00, and which one is left to chance. Give them one form: round or trim_scale for a numeric, lower for a case-insensitive text, a cast to text for all else',
    ],
    [
      'select s as id, array_agg(distinct p) as n from t group by s',
      'it uses array_agg over values that can be equal and written differently, such as 1.0 and 1.00, so which of them it yields is left to chance. Give them one form: round or trim_scale for a numeric, lower for a case-insensitive text, a cast to text for all else',
    ],
    [
      'select s as id, array_agg(x) as n from t group by s',
      'it uses array_agg without an order. Write array_agg(… ORDER BY …) so that equal data give equal results',
    ],
    // Older versions of Postgres do not know these.
    [
      'select s as id, json_objectagg(s: x) as p from t group by s',
      /JSON_OBJECTAGG, which takes no order|syntax error/,
    ],
    [
      'select s as id, json_arrayagg(x) as p from t group by s',
      /JSON_ARRAYAGG without an order|syntax error|does not exist/,
    ],
    ['select id from (select id from (select id, x from t) order by x limit 2) v', /without a name|must have an alias/],
    ['select x as id from generate_series(1, 3) x group by x limit 2', 'LIMIT or OFFSET without ORDER BY'],
    ['select id, nth_value(x, 2) over (order by s) as a from t', 'it uses the window function nth_value over rows'],
    [
      'select id, first_value(x) over (order by s groups between unbounded preceding and current row) as a from t',
      'it uses the window function first_value',
    ],
    [
      'select id, first_value(x) over (order by s range between current row and unbounded following) as a from t',
      'it uses the window function first_value',
    ],
    [
      'select id, sum(f) over (rows between unbounded preceding and unbounded following) as a from t',
      'it uses the window function sum',
    ],
    [
      'select id, sum(x) over (order by s rows between 1 preceding and current row exclude ties) as a from t',
      'it uses the window function sum',
    ],
    ['select id, max(p) over (partition by s) as a from t', 'it uses the window function max'],
    ['select id, product(x) over (order by s) as a from t', 'it uses the window function product'],
    ['select s as id, array_agg(x) as p from t group by s', 'without an order'],
    ['select s as id, json_object_agg(x, x) as p from t group by s', 'without an order'],
    ['select id, array(select b from u) as bs from t', 'Give the subquery an ORDER BY'],
    ['select id, json_array(select b from u) as bs from t', /Give the subquery an ORDER BY|syntax error/],
    ['select id, last_value(x) over (order by s) as n from t', 'left to chance'],
    ['select id, last_value(x) over (order by id) as n from t, generate_series(1, 3)', 'left to chance'],
    ['select t.id, last_value(x) over (order by t.id, n) as n from t, unnest(array[1.0, 1.00]) n', 'left to chance'],
    [
      'select t.id, last_value(x) over (order by t.id, n) as n from t, (select count(*) as n from u group by a) v',
      'left to chance',
    ],
    ['select id, sum(f) over (order by s) as n from t', 'left to chance'],
    ['select id, array_agg(x) over (partition by s) as n from t', 'left to chance'],
    ['select id from t order by x offset 1 fetch first 3 rows with ties', 'WITH TIES'],
    ['select s as id, mode() within group (order by p) as p from t group by s', 'which of them'],
    ['select tidemark_t1.id from t tidemark_t1', 'Choose another'],
    ['with tidemark_plus_1 as (select * from t) select id from tidemark_plus_1', 'Choose another'],
  ])('%s', async (text, message) => {
    await expect(analyze(db, text, ['id'])).rejects.toThrow(message);
  });
});
