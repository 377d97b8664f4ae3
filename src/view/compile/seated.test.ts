import { beforeAll, describe, expect, it } from 'vitest';
import { deparseSelect, parserLoaded, parseSelect } from '../parse/syntax.js';
import { seatedSelect } from './seated.js';

beforeAll(() => parserLoaded);

const normal = (text: string) => deparseSelect(parseSelect(text));

function seated(text: string): string | undefined {
  const select = parseSelect(text);
  const found = seatedSelect(select);
  expect(deparseSelect(select)).toBe(normal(text));
  return found && deparseSelect(found);
}

const shares = 'select list_id from share where user_id = $1';
const others = 'select list_id from share';

describe('a subquery that depends on a parameter is never read into a hash table', () => {
  it.each([
    ['todos of lists', `select * from todo where list_id in (${shares})`,
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
    ['arms', `select id from todo union select id from list where id in (${shares})`,
      `select id from todo union select id from list where exists (select 1 from (${shares}) tidemark_s (tidemark_1) where id = tidemark_s.tidemark_1)`],
    ['WITH', `with l as (select id from list where open or id in (${shares})) select * from l`,
      `with l as (select id from list where open or exists (select 1 from (${shares}) tidemark_s (tidemark_1) where id = tidemark_s.tidemark_1 offset 0)) select * from l`],
  ])('%s', (_, given, expected) => {
    expect(seated(given)).toBe(normal(expected));
  }); // biome-ignore format: pairs
});

describe('what is right as it is stays', () => {
  it.each([
    ['no parameter', `select * from list where owner_id = $1 or id in (${others})`],
    ['a parameter outside', `select * from list where ($1 = owner_id) is true and not id in (${others})`],
    ['EXISTS', `select * from list where exists (${shares} and list_id = list.id)`],
    ['NOT EXISTS', `select * from list where not exists (${shares} and list_id = list.id)`],
    ['a value', `select id, (${shares} limit 1) as one from list where id = (${shares} limit 1)`],
    ['an array', `select * from list where id = any (array(${shares}))`],
    ['a full join', 'select l.id, t.title from list l full join todo t on l.id = t.list_id where l.owner_id = $1'],
    ['ALL', `select * from list where id <> all (${shares})`],
  ])('%s', (_, text) => {
    expect(seated(text)).toBe(normal(text));
  });
});

describe('otherwise, or where it matters whether a test is null or false, nothing can be done', () => {
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
  ])('%s', (_, text) => {
    expect(seated(text)).toBeUndefined();
  });
});
