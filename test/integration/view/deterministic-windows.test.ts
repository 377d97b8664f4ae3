/** Window functions over rows that tie in their order. */
import { describe, expect, it } from 'vitest';
import { refusalOf, useTables, written } from './deterministic.js';

const analyze = useTables();

describe('a query with deterministic window functions', () => {
  it.each([
    'select id, rank() over (order by x) as n from t',
    'select id, sum(x) over (partition by s) as n from t',
    'select id, last_value(x) over (order by s, id) as n from t',
    'select a as id, array_agg(x) over (partition by a order by s, b, id) as n from t join u on t_id = id',
    "select s as id, last_value(s) over (order by s || 'x', s) as n from t group by s",
    'select t.id, last_value(x) over (partition by v.y order by g.n, t.id) as n from t, (select tag as y from tag) v, generate_series(1, 3) g (n)',
    'select t.id, last_value(g.v) over (order by t.id, g.n) as n from t, unnest(array[1.0, 1.00]) with ordinality g (v, n)',
    'select t.id, last_value(t.x) over (order by t.id, v.x) as n from t, (select x, max(s) as s from t group by x) v',
    'select x.n as id, x.p from (select row_number() over () as n, $1::int as p from t having $1 > 1) x',
    'select id, sum(x) over (order by s) as n from t',
    'select id, sum(x) over (order by s rows between unbounded preceding and unbounded following) as a from t',
    'select id, dense_rank() over (order by s) as a, percent_rank() over () as b, cume_dist() over (order by s) as c from t',
    'select id, last_value(x) over (order by lower(s), id) as n from t',
    'select t.id, last_value(x) over (order by t.id, g.n) as n from t, unnest(array[1.0], array[2.0]) with ordinality g (v, w, n)',
    'select id, max(x) over (order by s) as n from t',
    'select id, last_value($1::int) over (order by s) as n, nth_value(1, 2) over (order by s groups 1 preceding) as m from t',
    'select id from t where (select lead(true) over () from u group by ())',
    'select 1 as id, row_number() over (order by 1) as n from t group by grouping sets ((), ())',
    'select 1 as id, row_number() over () as n from t group by grouping sets ((), ())',
  ])('stays as it is: %s', async (text) => {
    expect((await analyze(text)).text).toBe(text);
  });
});

describe('a query with window functions over tied rows', () => {
  it.each([
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
      'select id, nth_value(1, 2) over (order by s rows 1 preceding) as a from t',
      'select id, nth_value(1, 2) over (order by s, t.id rows 1 preceding) as a from t',
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
      'select id, sum(f) over (rows between unbounded preceding and unbounded following) as a from t',
      'select id, sum(f) over (order by t.id rows between unbounded preceding and unbounded following) as a from t',
    ],
    [
      'select id, max(p) over (partition by s) as a, max(x) over (partition by s) as b from t',
      'select id, max(p) over (partition by s order by t.id rows between unbounded preceding and unbounded following) as a, max(x) over (partition by s) as b from t',
    ],
    [
      'select id, last_value(x) over (partition by s range current row) as a from t',
      'select id, last_value(x) over (partition by s order by t.id rows between unbounded preceding and unbounded following) as a from t',
    ],
    [
      'select id, sum(f) over (range between current row and unbounded following exclude current row) as a from t',
      'select id, sum(f) over (order by t.id rows between unbounded preceding and unbounded following exclude current row) as a from t',
    ],
    [
      'select id, first_value(x) over (order by s rows between current row and 2 following exclude current row) as a from t',
      'select id, first_value(x) over (order by s, t.id rows between current row and 2 following exclude current row) as a from t',
    ],
    [
      'select id, row_number() over (w order by x) as a, lag(x) over v as b from t window w as (partition by s), v as (w order by p)',
      'select id, row_number() over (partition by s order by x, t.id) as a, lag(x) over (partition by s order by p, t.id) as b from t window w as (partition by s), v as (w order by p)',
    ],
    [
      'select id, sum(x) over (rows 2 preceding) as n from t',
      'select id, sum(x) over (order by t.id rows 2 preceding) as n from t',
    ],
    [
      'select id, first_value(x) over (rows unbounded preceding) as n from t',
      'select id, first_value(x) over (order by t.id rows unbounded preceding) as n from t',
    ],
    [
      'select id, first_value(x) over (v rows unbounded preceding) as n from t window w as (partition by s), v as (w order by p)',
      'select id, first_value(x) over (partition by s order by p, t.id rows unbounded preceding) as n from t window w as (partition by s), v as (w order by p)',
    ],
    [
      'select id, row_number() over (order by x) as n from t order by row_number() over (order by x) limit 3',
      'select id, row_number() over (order by x, t.id) as n from t order by row_number() over (order by x, t.id), id limit 3',
    ],
    [
      'select distinct on (row_number() over (order by x)) id from t order by row_number() over (order by x)',
      'select distinct on (row_number() over (order by x, t.id)) id from t order by row_number() over (order by x, t.id), t.id',
    ],
  ])('gets a total order: %s', async (text, expected) => {
    expect((await analyze(text)).text).toBe(written(expected!));
  });
});

describe('a query with window functions whose result is left to chance', () => {
  it.each([
    [
      'select s as id, array_agg(distinct p) as n from t group by s',
      'it uses array_agg over values that can be equal but written differently, such as 1.0 and 1.00, so which one it returns is left to chance. Write them uniformly: cast numeric values, as in numeric(12, 2); use lower(…) collate "C" for case-insensitive text; cast anything else to text',
    ],
    [
      'select id, nth_value(x, 2) over (order by s) as a from t',
      'it uses the window function nth_value over tied rows',
    ],
    [
      'select id, first_value(x) over (order by s groups between unbounded preceding and current row) as a from t',
      'it uses the window function first_value',
    ],
    [
      'select id, first_value(x) over (order by s range between current row and unbounded following) as a from t',
      'it uses the window function first_value',
    ],
    [
      'select id, sum(x) over (order by s rows between 1 preceding and current row exclude ties) as a from t',
      'it uses the window function sum',
    ],
    ['select id, sum(f) over (range unbounded preceding exclude ties) as a from t', 'it uses the window function sum'],
    [
      'select id, first_value(x) over (order by s range unbounded preceding exclude current row) as a from t',
      'it uses the window function first_value',
    ],
    ['select id, product(x) over (order by s) as a from t', 'it uses the window function product'],
    ['select id, last_value(x) over (order by s) as n from t', 'left to chance'],
    ['select id, last_value(x) over (order by id) as n from t, generate_series(1, 3)', 'left to chance'],
    ['select t.id, last_value(x) over (order by t.id, n) as n from t, unnest(array[1.0, 1.00]) n', 'left to chance'],
    [
      'select t.id, last_value(x) over (order by t.id, n) as n from t, (select count(*) as n from u group by a) v',
      'left to chance',
    ],
    ['select id, sum(f) over (order by s) as n from t', 'left to chance'],
    ['select id, rank() over (order by id) as r, last_value(x) over (order by s) as n from t', 'left to chance'],
    ['select a as id, last_value(t_id) over (order by a) as n from u', 'left to chance'],
    [
      'select t.id, last_value(x) over (order by t.id) as n from t, (select a from u union all select b from u) v',
      'left to chance',
    ],
    [
      'select t.id, last_value(t.x) over (order by t.id, v.s, v.x) as n from t, (select s, x from t group by grouping sets (s, x)) v',
      'left to chance',
    ],
    [
      'select t.id, last_value(x) over (order by t.id, v.id) as n from t, (select id, generate_series(1, 2) from o.t) v',
      'left to chance',
    ],
    [
      'select t.id, last_value(x) over (order by t.id, v.y) as n from t, (select a as y from u group by a, b) v',
      'left to chance',
    ],
    ['select t.id, last_value(x) over (order by t.id, v.a) as n from t, (select a, b from u) v', 'left to chance'],
    [
      'select t.id, last_value(x) over (order by t.id, g.v) as n from t, unnest(array[1], array[2]) g (v, w)',
      'left to chance',
    ],
    ['with w as (select from u) select t.id, last_value(x) over (order by t.id) as n from t, w', 'left to chance'],
  ])('is refused: %s', async (text, message) => {
    expect(await refusalOf(analyze(text))).toMatch(message);
  });
});
