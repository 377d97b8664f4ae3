/** Names in a query resolve to tables by Postgres's rules. */
import { beforeAll, describe, expect, it } from 'vitest';
import { fromItemOf, scopesOf } from './scopes.js';
import { parserLoaded, parseSelect } from './syntax.js';
import type { Tree } from './tree.js';

beforeAll(() => parserLoaded);

const schemaOf = (range: Tree) => (range.schemaname as string | undefined) ?? 'public';

/** Lists a query's references with what each qualifier means: a table with its schema, or another item's name. */
function meanings(text: string): string[] {
  return scopesOf(parseSelect(text)).references.map((reference) => {
    const fromItem = fromItemOf(reference, schemaOf);
    const target = fromItem?.table
      ? `${schemaOf(fromItem.table)}.${fromItem.table.relname}`
      : (fromItem?.name ?? 'nobody');
    return `${reference.names.join('.')}: ${target}${reference.isRow ? ', a row' : ''}`;
  });
}

describe('a name in a query', () => {
  it.each<[text: string, expected: readonly string[]]>([
    ['select t.x, x, t from t', ['t.x: public.t', 'x: nobody', 't: public.t']],
    ['select a.x, t.x from t a', ['a.x: public.t', 't.x: nobody']],
    ['select t.*, (t).x, (t.y).z from t', ['t.*: public.t', 't: public.t, a row', 't.y: public.t, a row']],
    ['select t.x, o.t.x, u.t.x from o.t', ['t.x: o.t', 'o.t.x: o.t', 'u.t.x: nobody']],
    ['select o.t.x, a.x from o.t a', ['o.t.x: nobody', 'a.x: o.t']],
    ['select o.t.x, t.x from o.t t', ['o.t.x: nobody', 't.x: o.t']],
    ['select o.t.x from (select 1) t', ['o.t.x: nobody']],
    ['select t is null, (t).x from t', ['t: public.t', 't: public.t, a row']],
    ['select o.t.x, public.t.x from o.t, t', ['o.t.x: o.t', 'public.t.x: public.t']],
    ['select 1 from t where t.a group by t.b order by t.c', ['t.a: public.t', 't.b: public.t', 't.c: public.t']],
    ['select (select t.x from u) from t', ['t.x: public.t']],
    ['select (select t.x from o.t) from t', ['t.x: o.t']],
    ['select 1 from t where exists (select 1 from u where u.x = t.x)', ['u.x: public.u', 't.x: public.t']],
    ['select 1 from t, (select t.x from u) v', ['t.x: nobody']],
    ['select v.x from t, lateral (select t.x from u) v', ['t.x: public.t', 'v.x: v']],
    ['select f.x from t, f(t.x)', ['t.x: public.t', 'f.x: f']],
    ['select g.x, f.x from f(1) g', ['g.x: g', 'f.x: nobody']],
    ['select 1 from t join lateral (select t.x) v on t.y = v.x', ['t.x: public.t', 't.y: public.t', 'v.x: v']],
    ['select 1 from (select t.x) v, t', ['t.x: nobody']],
    ['select t.x, j.x from (t join u on t.x = u.x) j', ['t.x: public.t', 'u.x: public.u', 't.x: nobody', 'j.x: j']],
    ['select t.x, m.x from t join u using (x) as m', ['t.x: public.t', 'm.x: m']],
    ['select t.x from t union select t.x from u', ['t.x: public.t', 't.x: nobody']],
    ['select (select t.x union select t.y from u) from t', ['t.x: public.t', 't.y: public.t']],
    ['with w as (select t.x from t) select w.x, t.x from w', ['t.x: public.t', 'w.x: w', 't.x: nobody']],
    ['select (with w as (select t.x) select w.x from w) from t', ['t.x: public.t', 'w.x: w']],
  ])('resolves by the rules of Postgres: %s', (text, expected) => {
    expect(meanings(text)).toEqual(expected);
  });
});

describe('the tables of a query', () => {
  it.each<[text: string, tables: readonly string[]]>([
    ['select from a, b join c on true, (select from d) v', ['a', 'b', 'c', 'd']],
    ['select from a where exists (select from b) union select from c', ['a', 'b', 'c']],
    ['select from (select from a), b', ['a', 'b']],
    ['with a as (select from b) select from a, o.a', ['b', 'a']],
    ['with a as (select from a) select from a', ['a']],
    ['with recursive a as (select from b union all select from a) select from a', ['b']],
    ['with recursive a as (select from b), b as (select 1) select from a', []],
    ['with a as (select from b), b as (select 1) select from a, b', ['b']],
    ['with a as (select 1), b as (select from a) select from b', []],
    ['select from a where exists (with a as (select 1) select from a)', ['a']],
    ['with a as (select 1) select from b where exists (select from a)', ['b']],
    ['with a as (select 1) select from b union select from a', ['b']],
    ['with a as (with c as (select 1) select from c) select from a, c', ['c']],
  ])('are found: %s', (text, tables) => {
    expect(scopesOf(parseSelect(text)).tables.map(({ relname }) => relname)).toEqual(tables);
  });
});

it('each SELECT has the items of its own FROM', () => {
  const { levels } = scopesOf(
    parseSelect('select from (a join b on true) j, c where exists (select from d join e using (x), f(1))'),
  );
  expect(levels.map(({ fromItems }) => fromItems.map(({ name }) => name))).toEqual([['j', 'c'], ['d', 'e', 'f']]);
}); // biome-ignore format: rows
