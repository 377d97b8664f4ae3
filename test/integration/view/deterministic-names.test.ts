/** Names and whole rows mean the same when another state of a table is read. */
import { describe, expect, it } from 'vitest';
import { refusalOf, useTables, written } from './deterministic.js';

const analyze = useTables();

const whole = (name: string, table = 't', key = 'id') =>
  `case when ${name}.${key} is not null then cast(${name}.* as public.${table}) end`;

describe('a query with schema-qualified names', () => {
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
    ['select tag as id, public.tag.s from tag', 'select tag as id, tidemark_t1.s from tag as tidemark_t1'],
  ])('gets aliases: %s', async (text, expected) => {
    expect((await analyze(text)).text).toBe(written(expected!));
  });
});

describe('a query with whole rows', () => {
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
    ['select id, t::text from t', `select id, ${whole('t')}::text as t from t`],
    ['select id, t::text::varchar from t', `select id, ${whole('t')}::text::varchar as t from t`],
    [
      'select tag as id, to_json(tag.*) as j from tag',
      `select tag as id, to_json(${whole('tag', 'tag', 'tag')}) as j from tag`,
    ],
    [
      'select s.id, to_jsonb(s) as j from (select id from t) s',
      'select s.id, to_jsonb(s) as j from (select id from t) s',
    ],
    ['select id, (t).x as x2, to_jsonb(t) as j from t', `select id, (t).x as x2, to_jsonb(${whole('t')}) as j from t`],
    [
      'select id, t is null as n from t order by t is null limit 2',
      `select id, ${whole('t')} is null as n from t order by ${whole('t')} is null, id limit 2`,
    ],
    [
      'select id, s as t, t as s from t order by t limit 2',
      `select id, s as t, ${whole('t')} as s from t order by t, id limit 2`,
    ],
    [
      'select distinct on (t) id, s as t, t as w from t order by t, id',
      `select distinct on (t) id, s as t, ${whole('t')} as w from t order by t, id, t.id`,
    ],
  ])('keeps their row type in other states of the table: %s', async (text, expected) => {
    expect(written((await analyze(text)).text)).toBe(written(expected!));
  });
});

describe('a query with ambiguous or reserved names', () => {
  it.each([
    ['select tidemark_t1.id from t tidemark_t1', 'Choose another'],
    ['with tidemark_new_rows_1 as (select * from t) select id from tidemark_new_rows_1', 'Choose another'],
    ['select id, case when x > 1 then null else t end from t', 'its names become ambiguous'],
  ])('is refused: %s', async (text, message) => {
    expect(await refusalOf(analyze(text))).toMatch(message);
  });
});

it('a name that contains one of Tidemark’s names stays as it is', async () => {
  const text = 'select id from no_tidemark_header';
  expect((await analyze(text)).text).toBe(text);
});

// Older versions of Postgres require an alias.
it('subqueries without aliases are not confused with one another', async () => {
  const text = 'select 1 as id from (select id from t), (select a from u)';
  const { text: served } = await analyze(text).catch((error: Error) => ({ text: error.message }));
  expect([text, 'subquery in FROM must have an alias']).toContain(served);
});
