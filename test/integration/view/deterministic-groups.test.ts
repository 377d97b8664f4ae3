/** Groups, and the row that remains of several equal rows. */
import { describe, expect, it } from 'vitest';
import { bytes, refusalOf, useTables, written } from './deterministic.js';

const analyze = useTables();

describe('a query whose groups and duplicates are deterministic', () => {
  it.each([
    'select id, max(q) as n from t group by id',
    'select distinct id, p from t',
    'select id, p from t where x = 1 union select id, p from t where x = 2',
    'select distinct q as id from t',
    'select id from t where p in (select distinct p from t)',
    'select id, p, count(*) as n from t group by id, p',
    'select id, p from t union all (select id, p from t except select id, p from t where x = 1)',
    'select id from t where exists (select distinct p from t) and p >= all (select distinct p from t)',
    'select id from t where p in (select p from t union select q from t union select 1)',
    'select s as id, sum(x) as n, avg(p) as a from t group by s',
    'select distinct t.id, t.p from u, t',
    'select id, 1 + max(x) as n from t group by id',
    'select id from t where x not in (select max(x) from t limit 1)',
    'select p::numeric(9, 2) as id, count(*) as n from t group by rollup (p::numeric(9, 2))',
    'select p::text as id from t intersect select s from t',
    'select distinct grouping(s) as id from t group by rollup (s)',
    'select distinct a as id, b, p from price',
  ])('stays as it is: %s', async (text) => {
    expect((await analyze(text)).text).toBe(text);
  });
});

describe('a query grouped by a primary key', () => {
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
    [
      'select id, count(*) + length(s) as n from t group by id',
      'select id, count(*) + length(s) as n from t group by id, s',
    ],
    ['select id, s as x from t group by id order by t.x', 'select id, s as x from t group by id, s, t.x order by t.x'],
    ['select id, s, x + 1 as y from t group by id, x + 1', 'select id, s, x + 1 as y from t group by id, x + 1, s, x'],
    [
      'select a as id, (u).t_id, (v.r).b from u, (select row(1, 2)::pair as r) v group by a, u.b, v.r',
      'select a as id, (u).t_id, (v.r).b from u, (select row(1, 2)::pair as r) v group by a, u.b, v.r, u.a, u.t_id',
    ],
    [
      'select * from u, (select 1 as id) v group by a, b, id',
      'select * from u, (select 1 as id) v group by a, b, id, u.a, u.b, u.t_id',
    ],
    [
      'select a as id, v.*, u.t_id from u, (select 1 as y) v group by a, b, y',
      'select a as id, v.*, u.t_id from u, (select 1 as y) v group by a, b, y, u.t_id',
    ],
    [
      'select tag.*, u.a as id from tag, u group by tag, a, b',
      'select tag.*, u.a as id from tag, u group by tag, a, b, tag.tag, tag.s, u.a',
    ],
    [
      'select u.a as id, (select count(*) from (select t.id, x from t group by t.id) v) as n from u x, u',
      'select u.a as id, (select count(*) from (select t.id, x from t group by t.id, x) v) as n from u x, u',
    ],
    [
      'select t.id, s, count(u.a) as n from t left join u on t_id = t.id group by t.id order by count(u.a) limit 3',
      'select t.id, s, count(u.a) as n from t left join u on t_id = t.id group by t.id, s order by count(u.a), id limit 3',
    ],
    ['select id, s as t from t group by id order by t.x', 'select id, s as t from t group by id, s, t.x order by t.x'],
  ])('is also grouped by the columns that depend on the key: %s', async (text, expected) => {
    expect((await analyze(text)).text).toBe(written(expected!));
  });
});

it.each([
  'select id, raw from t group by id',
  'select t.* from t group by t.id',
  'select raw as id, x from t order by x limit 2',
])('a query is refused with advice if values of a column cannot be compared: %s', async (text) => {
  expect(await refusalOf(analyze(text))).toMatch(
    /^it must be grouped or sorted by a column whose type Postgres cannot compare \(could not identify an (equality|ordering) operator for type json\)\. Cast the column to text, as in data::text, or min\(data::text\)::json with GROUP BY$/,
  );
});

it('grouping sets over a subquery are refused where Postgres leaves its value to chance', async () => {
  const subquery = '(select max(u.a) from u where u.t_id = t.x)';
  const text = `select coalesce(${subquery}, 0) as id from t group by cube (${subquery})`;
  const isOld = process.env.TIDEMARK_TEST_POSTGRES === 'postgres-15';
  if (isOld) expect(await refusalOf(analyze(text))).toMatch(/^it has GROUPING SETS, CUBE or ROLLUP over a subquery/);
  else expect((await analyze(text)).text).toBe(text);
  const plain = `select ${subquery} as id from t group by ${subquery}`;
  expect((await analyze(plain)).text).toBe(plain);
});

it('a query may group values that cannot be compared if they are cast to text', async () => {
  const text = 'select id, min(raw::text)::json as raw from t group by id';
  expect((await analyze(text)).text).toBe(text);
});

describe('a query that removes duplicates written differently', () => {
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
    [
      'select id, p from t where x = 1 union select id, p from t where x = 2 union select a, b from u',
      'select id, p from t where x = 1 union all select id, p from t where x = 2 union all select a, b from u',
    ],
    [
      'select p as id from t union (select distinct on (s) p from t order by s)',
      'select p as id from t union all (select distinct on (s) p from t order by s, t.id)',
    ],
    [
      'select p as id from t union (select id from t union select a from u order by 1 limit 2)',
      'select p as id from t union all (select id from t union select a from u order by 1, 1 limit 2)',
    ],
    ['select distinct a as id, p from price', 'select a as id, p from price'],
  ])('keeps them, and one is chosen by key: %s', async (text, expected) => {
    expect(await analyze(text)).toMatchObject({ text: written(expected!), choosesByKey: true });
  });
});

describe('a query with equal values written differently in groups or nested queries', () => {
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
    ['select s as id, p from t group by s, p', `select s as id, ${first('p')} as p from t group by s, p`],
    [
      'select t.p as id, count(*) as n from t group by p having p > 1',
      `select ${first('t.p')} as id, count(*) as n from t group by t.p having p > 1`,
    ],
    [
      'select p as id, p = 2 as e from t group by p having $1 = t.p and p = trunc(p) and (p + 1) = 2 and p::text = $2',
      `select ${first('p')} as id, p = 2 as e from t group by p having $1 = t.p and p = trunc(${first('p')}) and (${first('p')} + 1) = 2 and ${first('p')}::text = $2`,
    ],
    [
      'select p as id from t group by p having p in (1, 2) and p not in (3) and p <> 3 and p between 1 and $1 and p is not null and p is distinct from 4',
      `select ${first('p')} as id from t group by p having p in (1, 2) and p not in (3) and p <> 3 and p between 1 and $1 and p is not null and p is distinct from 4`,
    ],
    [
      'select p as id from t group by p having p = p::float8 and p::text ~ $1 and (p, 1) = (2, 1) and 1 - p > 2',
      `select ${first('p')} as id from t group by p having ${first('p')} = ${first('p')}::float8 and ${first('p')}::text ~ $1 and (${first('p')}, 1) = (2, 1) and 1 - ${first('p')} > 2`,
    ],
    [
      'select p as id, -p as n from t group by p order by p, -p',
      `select ${first('p')} as id, -${first('p')} as n from t group by p order by ${first('p')}, -${first('p')}`,
    ],
    [
      'select p as id, max(p) as m from t group by p order by max(p)',
      `select ${first('p')} as id, max(p order by ${bytes('p')}) as m from t group by p order by max(p order by ${bytes('p')})`,
    ],
    [
      'select p as id from t union (select p from t except select q from t)',
      `select p as id from t union all ((${one('select p from t', 1, '1')}) except select q from t)`,
    ],
    [
      'select p as id, grouping(p) as g from t group by p',
      `select ${first('p')} as id, grouping(p) as g from t group by p`,
    ],
    [
      'select id, (select count(*) from (select distinct t.id, b.p from t b) v) as n from t',
      `select id, (select count(*) from (${one('select t.id, b.p from t b', 1, '1, 2')}) v) as n from t`,
    ],
  ])('chooses one of them by its text: %s', async (text, expected) => {
    expect((await analyze(text)).text).toBe(written(expected!));
  });
});

describe('a query whose groups or duplicates are left to chance', () => {
  it.each([
    ['select p as id, count(*) as n from t group by rollup (p)', 'groups by values of id'],
    ['select p as id, (select count(*) from u where a = p) as n from t group by p', 'groups by values of id'],
    ['select distinct p as id from t order by p limit 3', 'keeps one of several values of id'],
    ['select p as id from t intersect select p from t', 'keeps one of several values of id'],
    ['select p as id from t except all select 1', 'keeps one of several values of id'],
    ['select 1 as id union all (select p from t intersect select q from t)', 'keeps one of several values of p'],
    [
      'select p as id from t intersect all select p from t',
      'it keeps one of several values of id that can be equal but written differently, such as 1.0 and 1.00, and which one is left to chance. Write them uniformly: cast numeric values, as in numeric(12, 2); use lower(…) collate "C" for case-insensitive text; cast anything else to text',
    ],
    ['select count(*) as id from t group by rollup (p)', 'groups by values that can be'],
    ['select * from (select p as id from t) v group by id', 'groups by values of id'],
  ])('is refused: %s', async (text, message) => {
    expect(await refusalOf(analyze(text))).toMatch(message);
  });
});
