/** The columns of a view's tables that determine which keys it has, whatever its values are. */
import { describe, expect, it } from 'vitest';
import { useTables } from './deterministic.js';

const analyze = useTables();

/** Returns the columns as `t: id s, u: t_id`, where * stands for whole rows. */
async function decidingIn(text: string): Promise<string> {
  const { decides, tables } = await analyze(text);
  return [...decides]
    .map(([oid, columns]) => {
      const { name, columns: names } = tables.find((table) => table.oid === oid)!;
      return `${name}: ${columns.map((column) => (column === 0 ? '*' : names[column - 1])).join(' ')}`;
    })
    .sort()
    .join(', ');
}

describe('a query’s deciding columns', () => {
  it.each([
    ['select * from t', 't: id'],
    ['select id, x, s || f as s, to_jsonb(t) as doc from t', 't: id'],
    ['select id, s from t where x > $1 or p is null', 't: id x p'],
    ['select x + f as id, s from t', 't: x f'],
    ['select id, s from t where to_jsonb(t) ? $1', 't: * id'],
    ['select t.id, t.s, u.a from t join u on u.t_id = t.id', 't: id, u: t_id'],
    ['select t.id, t.s, u.b from t join u on u.t_id = t.id and u.a = $1 where t.x = u.a', 't: id x, u: a t_id'],
    ['select t.*, b from t, u where t_id = id', 't: id, u: t_id'],
    [
      'select u.a as id, price.p, s from u join price using (a, b) join t on t.id = t_id',
      'price: a b, t: id, u: a b t_id',
    ],
    ['select id, p, t.s from t natural join (select a as id, p from price) v', 'price: a p, t: id p'],
    ['select a as id, p, t_id from u full join price using (a)', 'price: a, u: a'],
    ['select a as id, p, t_id from u left join price using (a) where price.b > 0', 'price: a b, u: a'],
    ['select j.a as id, j.p from (u join price using (a, b)) j where j.t_id > 0', 'price: a b, u: a b t_id'],
    ['select j.a as id from (u join price using (a, b)) j where j is not null', 'price: a b p, u: a b t_id'],
    ['select id, s from t where exists (select from u where u.t_id = t.id and b > x)', 't: id x, u: b t_id'],
    ['select id, s from t where x in (select b from u where a = t.f)', 't: id x f, u: a b'],
    ['select id, s from t where x > (select count(*) from u where a = 1)', 't: id x, u: a'],
    ['select t.id, s, v.n from t cross join lateral (select b as n from u where t_id = t.x) v', 't: id x, u: b t_id'],
    ['with v as (select id, s from t where x = 1) select id, s from v', 't: id x s'],
    ['select id, s from (select id, s, f from t) v', 't: id s f'],
    ['select t.id, v.s from t join lateral (select t.s, t.q) v on true', 't: id s q'],
    ['select t.id, t.s, n from t, unnest(array[t.x, 1]) n', 't: id x'],
    ['select id, s from t where x > 0 union all select a, null from u', 't: id x s, u: a'],
    ['select id, s from t except select a, null from u', 't: id s, u: a'],
  ])('include the key and the conditions: %s', async (text, expected) => expect(await decidingIn(text)).toBe(expected));
});

describe('the deciding columns of a query with computed values', () => {
  it.each([
    ['select id, (select count(*) from u where t_id = t.x) as n from t', 't: id, u: '],
    ['select id, array(select b from u where t_id = id order by a, b) as list from t', 't: id, u: '],
    ['select x as id, count(*) as n, max(s) as s, sum(f order by id) as f from t group by x', 't: x'],
    ['select 1 as id, max(s) as s from t', 't: '],
    ['select id, max(x) over (partition by id) as n from t', 't: id'],
    ['select distinct on (id) id, s, f from t order by id, x', 't: id x'],
    ['select distinct x as id, p from t', 't: x'],
  ])('leave out the columns of the values: %s', async (text, expected) =>
    expect(await decidingIn(text)).toBe(expected),
  );
});

describe('the deciding columns of a query that orders, groups or multiplies rows', () => {
  it.each([
    ['select id, s, f from t order by x, f limit 3', 't: id x f'],
    ['select id, s, f from t order by x fetch first 3 rows with ties', 't: id x'],
    ['select x as id, s, max(f) as f from t group by x, s', 't: x s'],
    ['select x as id, max(f) as f from t group by x having min(p) > 0', 't: x p'],
    ['select x as id, max(f) as f, grouping(q) as g from t group by grouping sets ((x), (x, q))', 't: x q'],
    ['select distinct id, s, x from t', 't: id x s'],
    ['select row_number() over (order by x) as id, s from t', 't: id x'],
    ['select id, s, max(f) over (partition by x) as n from t', 't: id x'],
    ['select id, unnest(array[s]) as n, f from t', 't: id s'],
  ])('include those that order, group or multiply: %s', async (text, expected) =>
    expect(await decidingIn(text)).toBe(expected),
  );
});
