import { beforeAll, describe, expect, it } from 'vitest';
import { deparseSelect, parserLoaded, parseSelect } from '../parse/syntax.js';
import { cohortSelect } from './cohort-select.js';

beforeAll(() => parserLoaded);

const normal = (text: string) => deparseSelect(parseSelect(text));

function cohortText(text: string): string | undefined {
  const select = parseSelect(text);
  const cohortTree = cohortSelect(select);
  expect(deparseSelect(select)).toBe(normal(text));
  return cohortTree && deparseSelect(cohortTree);
}

const shares = 'select list_id from share where user_id = $1';
const others = 'select list_id from share';

describe('a subquery that depends on a parameter', () => {
  it.each([
    ['IN', `select * from todo where list_id in (${shares})`,
      `select * from todo where exists (select 1 from (${shares}) tidemark_s (tidemark_1) where list_id = tidemark_s.tidemark_1)`],
    ['an OR', `select * from list where owner_id = $1 or id in (${shares})`,
      `select * from list where owner_id = $1 or exists (select 1 from (${shares}) tidemark_s (tidemark_1) where id = tidemark_s.tidemark_1 offset 0)`],
    ['AND within OR', `select * from list where owner_id = $1 or (open and id in (${shares}))`,
      `select * from list where owner_id = $1 or (open and exists (select 1 from (${shares}) tidemark_s (tidemark_1) where id = tidemark_s.tidemark_1 offset 0))`],
    ['an operator', `select * from list where id > any (${shares})`,
      `select * from list where exists (select 1 from (${shares}) tidemark_s (tidemark_1) where id > tidemark_s.tidemark_1)`],
    ['rows', `select * from list where (id, kind) in (select list_id, kind from share where user_id = $1)`,
      `select * from list where exists (select 1 from (select list_id, kind from share where user_id = $1) tidemark_s (tidemark_1, tidemark_2) where (id, kind) = (tidemark_s.tidemark_1, tidemark_s.tidemark_2))`],
    ['an outer join', `select * from todo t left join list l on l.id = t.list_id and l.id in (${shares})`,
      `select * from todo t left join list l on l.id = t.list_id and exists (select 1 from (${shares}) tidemark_s (tidemark_1) where l.id = tidemark_s.tidemark_1 offset 0)`],
    ['EXISTS in an OR', `select * from list where open or exists (${shares} and list_id = list.id)`,
      `select * from list where open or exists (${shares} and list_id = list.id offset 0)`],
    ['EXISTS with WITH', `select * from list where exists (with s as (${shares}) select from s where list_id = list.id)`,
      `select * from list where exists (with s as (${shares}) select from s where list_id = list.id offset 0)`],
    ['subqueries of subqueries', `select * from todo where list_id in (select id from list where open or id in (${shares}))`,
      `select * from todo where exists (select 1 from (select id from list where open or exists (select 1 from (${shares}) tidemark_s (tidemark_1) where id = tidemark_s.tidemark_1 offset 0)) tidemark_s (tidemark_1) where list_id = tidemark_s.tidemark_1)`],
    ['an arm of a UNION', `select id from todo union select id from list where id in (${shares})`,
      `select id from todo union select id from list where exists (select 1 from (${shares}) tidemark_s (tidemark_1) where id = tidemark_s.tidemark_1)`],
    ['WITH', `with l as (select id from list where open or id in (${shares})) select * from l`,
      `with l as (select id from list where open or exists (select 1 from (${shares}) tidemark_s (tidemark_1) where id = tidemark_s.tidemark_1 offset 0)) select * from l`],
  ])('is rewritten, so that it is not read into a hash table: %s', (_, input, expected) => {
    expect(cohortText(input)).toBe(normal(expected));
  }); // biome-ignore format: pairs
});

describe('a query that needs no rewrite', () => {
  it.each([
    ['no parameter', `select * from list where owner_id = $1 or id in (${others})`],
    ['a parameter outside', `select * from list where ($1 = owner_id) is true and not id in (${others})`],
    ['EXISTS', `select * from list where exists (${shares} and list_id = list.id)`],
    ['NOT EXISTS', `select * from list where not exists (${shares} and list_id = list.id)`],
    ['a value', `select id, (${shares} limit 1) as one from list where id = (${shares} limit 1)`],
    ['an array', `select * from list where id = any (array(${shares}))`],
    ['a full join', 'select l.id, t.title from list l full join todo t on l.id = t.list_id where l.owner_id = $1'],
    ['ALL', `select * from list where id <> all (${shares})`],
  ])('stays as it is: %s', (_, text) => {
    expect(cohortText(text)).toBe(normal(text));
  });
});

describe('a query that cannot be rewritten', () => {
  it.each([
    ['NOT IN', `select * from list where id not in (${shares})`],
    ['a result', `select id, id in (${shares}) as mine from list`],
    ['a comparison', `select * from list where (id in (${shares})) is null`],
    ['HAVING', `select id from list group by id having id in (${shares})`],
    ['FILTER', `select count(*) filter (where id in (${shares})) from list`],
    ['all columns of a row', `select * from list where (list.*) in (select * from list where owner_id = $1)`],
    [
      'a parameter in the condition of a full join',
      'select l.id, t.title from list l full join todo t on $1 like t.title',
    ],
    ['a subquery on the left', `select * from list where (select id from todo limit 1) in (${shares})`],
  ])('has no statement for cohorts: %s', (_, text) => {
    expect(cohortText(text)).toBeUndefined();
  });
});
