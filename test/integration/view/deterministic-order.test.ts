/** Rows that tie in an order, where it matters which of them comes first. */
import { describe, expect, it } from 'vitest';
import { queryOfInstances } from '../../../packages/tidemark/src/view/instances/instances.js';
import { bytes, refusalOf, useTables, written } from './deterministic.js';

const analyze = useTables();

describe('a query with a deterministic order', () => {
  it.each([
    "select id from t where s in ('open', 'done') and s = any (array['a'])",
    'select t.id, tag.tag from t join tag on tag.s = t.s',
    'select id, count(*) as n from t group by id',
    'select id, max(x) as n from t group by id',
    'select id from t where exists (select from u limit 0)',
    'select id from t where exists (select from u limit 1 offset 1)',
    'select id from t where exists (select from u where a = id limit (select x from o.t where id = 1) offset 1)',
    'select id from t order by x fetch first 3 rows with ties',
    'select id, array(select unnest(array[x])) as a from t',
    "select id, (select string_agg(v, ',') from unnest(array[s, 'b']) v) as l from t",
    'select s as id, percentile_disc(0.5) within group (order by x) as n from t group by s',
    'select s as id, array_agg(distinct x order by x desc) as n from t group by s',
    'select s as id, stddev($1) as n from t group by s',
    'select id from t where x > 1 group by id order by max(x)',
    'select x as id from generate_series(1, 5) x limit 2',
    'select id from t limit null',
    'select id, (select max(x) from t limit 1) as m, array(select max(x) from t) as a from t',
    'select distinct on (1) max(x) as id from t order by 1',
  ])('stays as it is: %s', async (text) => {
    expect((await analyze(text)).text).toBe(text);
  });
});

describe('a query with tied rows', () => {
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
      'select n as id from (select v.n from (select x as n, s, 1 / id as f from t) v order by v.s limit 2) w',
      `select n as id from (select v.n from (select x as n, s, 1 / id as f from t) v order by v.s, ${bytes('v.n')}, ${bytes('v.s')} limit 2) w`,
    ],
    [
      'select n as id from (select 1 as n from (select x as n, s from t) v order by v.s limit 2) w',
      `select n as id from (select 1 as n from (select x as n, s from t) v order by v.s, ${bytes('v.s')} limit 2) w`,
    ],
    [
      'select n as id from (select (select v.n + t.x from t where t.s > v.s) as n from (select x as n, s, p from t) v order by v.s limit 2) w',
      `select n as id from (select (select v.n + t.x from t where t.s > v.s) as n from (select x as n, s, p from t) v order by v.s, ${bytes('v.n')}, ${bytes('v.s')} limit 2) w`,
    ],
    [
      'select n as id from (select num_nulls(v.*) as n from (select x as n, s from t) v order by v.s limit 2) w',
      `select n as id from (select num_nulls(v.*) as n from (select x as n, s from t) v order by v.s, ${bytes('v.*')} limit 2) w`,
    ],
    [
      'select n as id from (select 1 as n from (select x as n, s, s as x, p as x from t) v order by v.s limit 2) w',
      `select n as id from (select 1 as n from (select x as n, s, s as x, p as x from t) v order by v.s, ${bytes('v.s')} limit 2) w`,
    ],
    [
      'select n as id from (select v.n from (select x as n, s from t) v natural join (select x as n, q from t) b order by v.s limit 2) w',
      `select n as id from (select v.n from (select x as n, s from t) v natural join (select x as n, q from t) b order by v.s, ${bytes('v.n')}, ${bytes('v.s')}, ${bytes('b.n')} limit 2) w`,
    ],
    [
      'select n as id from (select n from (select x as n, s from t) v full join (select x as n, q from t) b using (n) order by v.s limit 2) w',
      `select n as id from (select n from (select x as n, s from t) v full join (select x as n, q from t) b using (n) order by v.s, ${bytes('v.*')}, ${bytes('b.*')} limit 2) w`,
    ],
    [
      'select n as id from (select j.n from ((select x as n, s from t) a cross join (select 1 as k) b) as j order by j.s limit 2) w',
      `select n as id from (select j.n from ((select x as n, s from t) a cross join (select 1 as k) b) as j order by j.s, ${bytes('j.*')} limit 2) w`,
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
      'select id, unnest(array[x, x]) as n from t order by x limit 3',
      'select id, unnest(array[x, x]) as n from t order by x, t.id limit 3',
    ],
    [
      'select id, unnest(array[x, x]) as n from t order by n limit 3',
      'select id, unnest(array[x, x]) as n from t order by n, t.id, 1, 2 limit 3',
    ],
    [
      'select id, 1 in (select unnest(array[x])) as b, unnest(array[x, x]) as n from t order by b limit 3',
      'select id, 1 in (select unnest(array[x])) as b, unnest(array[x, x]) as n from t order by b, t.id limit 3',
    ],
    [
      'select distinct on (x) id, generate_series(1, x) as n from t order by x',
      'select distinct on (x) id, generate_series(1, x) as n from t order by x, t.id',
    ],
    [
      'select id from (select id, unnest(array[x, x]) as n from t order by x limit 3) v',
      'select id from (select id, unnest(array[x, x]) as n from t order by x, t.id limit 3) v',
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
      'select id from (select distinct x as id from t order by x limit 2) v',
      'select id from (select distinct x as id from t order by x, 1 limit 2) v',
    ],
    [
      'select distinct on (p) p as id, x from t order by p',
      'select distinct on (p) p as id, x from t order by p, t.id',
    ],
    [
      'select (select x from o.t order by x limit 1) as id from t group by (select x from o.t order by x limit 1)',
      'select (select x from o.t order by x, t.id limit 1) as id from t group by (select x from o.t order by x, t.id limit 1)',
    ],
    [
      'select (select a from u union select b from u order by 1 limit 1) as id from t group by (select a from u union select b from u order by 1 limit 1)',
      'select (select a from u union select b from u order by 1, 1 limit 1) as id from t group by (select a from u union select b from u order by 1, 1 limit 1)',
    ],
    [
      'select s as id, sum(f) as n, rank() over (order by sum(f)) as r from t group by s order by sum(f) limit 3',
      `select s as id, sum(f order by ${bytes('f')}) as n, rank() over (order by sum(f order by ${bytes('f')})) as r from t group by s order by sum(f order by ${bytes('f')}), id limit 3`,
    ],
    [
      "select (select length(string_agg(s, ',' order by x)) from t b) as id from t group by (select length(string_agg(s, ',' order by x)) from t b)",
      `select (select length(string_agg(s, ',' order by x, ${bytes('s')})) from t b) as id from t group by (select length(string_agg(s, ',' order by x, ${bytes('s')})) from t b)`,
    ],
  ])('gets a total order: %s', async (text, expected) => {
    expect((await analyze(text)).text).toBe(written(expected!));
  });
});

describe('a query whose order is left to chance', () => {
  it.each([
    [
      'select s as id, array_agg(x) as n from t group by s',
      'it uses array_agg without ORDER BY. Write array_agg(… ORDER BY …) so that the same data gives the same result',
    ],
    // Older versions of Postgres do not support these.
    [
      'select s as id, json_objectagg(s: x) as p from t group by s',
      /JSON_OBJECTAGG, which does not accept ORDER BY|syntax error/,
    ],
    [
      'select s as id, json_arrayagg(x) as p from t group by s',
      /JSON_ARRAYAGG without ORDER BY|syntax error|does not exist/,
    ],
    [
      'select id from (select id from (select id, x from t) order by x limit 2) v',
      /unnamed subquery|must have an alias/,
    ],
    ['select x as id from generate_series(1, 3) x group by x limit 2', 'LIMIT or OFFSET without ORDER BY'],
    ['select s as id, array_agg(x) as p from t group by s', 'array_agg without ORDER BY'],
    ['select s as id, json_object_agg(x, x) as p from t group by s', 'json_object_agg without ORDER BY'],
    ['select id, array(select b from u) as bs from t', 'Give the subquery an ORDER BY'],
    ['select id, json_array(select b from u) as bs from t', /Give the subquery an ORDER BY|syntax error/],
    ['select id from t order by x offset 1 fetch first 3 rows with ties', 'WITH TIES'],
    ['select s as id, mode() within group (order by p) as p from t group by s', 'which one it returns'],
    ['select id from t union all select a from u limit 2', 'LIMIT or OFFSET without ORDER BY'],
    [
      'select a as id from generate_series(1, 2) a, generate_series(1, 2) b limit 2',
      'LIMIT or OFFSET without ORDER BY',
    ],
    ['select s as id, jsonb_object_agg(distinct x, p) as o from t group by s', 'which one it returns'],
    ['select distinct on (s) s as id, x from t', 'DISTINCT ON without ORDER BY'],
  ])('is refused: %s', async (text, message) => {
    expect(await refusalOf(analyze(text))).toMatch(message);
  });
});

it('the query of one instance is ordered as without arguments', async () => {
  const one = 'select u.a as id, u.b from u where u.a > $1 order by u.t_id limit 3';
  const { text } = await analyze(queryOfInstances(one, ['pg_catalog.int4']));
  expect(text).toMatch(/order by u\.t_id, id limit 3/i);
  expect(text).not.toContain('u.t_id, u.a');
});
