import { beforeAll, describe, expect, it } from 'vitest';
import { deparseSelect, parserLoaded, parseSelect } from '../parse/syntax.js';
import { render, toTemplate } from '../parse/template.js';
import { focusSets, rewrite, tablesIn } from './rewrite.js';

beforeAll(() => parserLoaded);

/** Rewrites the query so that the numbered occurrence reads `x` and all others read their tables. */
function rewritten(text: string, focus: number): string {
  const select = parseSelect(text);
  const tableStates = tablesIn(select).map((_, i) => (i === focus ? 'x' : 'now'));
  return deparseSelect(rewrite(select, tableStates, [focus]));
}

function normal(text: string): string {
  return deparseSelect(parseSelect(text));
}

describe('one occurrence of a table', () => {
  it.each([
    ['select * from todo', 0, 'select * from x as todo'],
    ['select t.* from todo t', 0, 'select t.* from x as t'],
    ['select a.id from todo a join todo b on a.id = b.id', 1, 'select a.id from todo a join X b on a.id = b.id'],
  ])('reads another state of the table: %s', (text, focus, expected) => {
    expect(rewritten(text, focus)).toBe(normal(expected));
  });
});

describe('branches that do not read the occurrence', () => {
  it.each([
    [
      'select id from list where owner = $1 or id in (select l from share where u = $1)',
      1,
      'select id from list where id in (select l from x as share where u = $1)',
    ],
    [
      'select id from list where owner = $1 or id in (select l from share where u = $1)',
      0,
      'select id from x as list where owner = $1 or id in (select l from share where u = $1)',
    ],
    [
      'select id from t where a and (b or exists (select from s where c and d))',
      1,
      'select id from t where a and exists (select from x as s where c and d)',
    ],
    [
      'select id from t where a and (b or (c and exists (select from s)))',
      1,
      'select id from t where a and c and exists (select from x as s)',
    ],
    [
      'select id from t where exists (select from l where l.x = t.x and (l.o = $1 or l.id in (select l from s)))',
      2,
      'select id from t where exists (select from l where l.x = t.x and l.id in (select l from x as s))',
    ],
    ['select id from t where a and b or c', 0, 'select id from x as t where a and b or c'],
    [
      'select id from a union select id from b union select id from c',
      2,
      'select id from a where false union select id from b where false union select id from x as c',
    ],
    ['select id from a union all select id from b', 1, 'select id from a where false union all select id from x as b'],
    [
      'select id from a union select id from b union select id from c where d',
      1,
      'select id from a where false union select id from x as b union select id from c where false',
    ],
  ])('are removed: %s (%i)', (text, focus, expected) => {
    expect(rewritten(text, focus)).toBe(normal(expected));
  });
});

it.each<[text: string, changed: readonly number[], sets: readonly (readonly number[])[]]>([
  ['select a.id from a, b', [0, 1], [[0], [1]]],
  ['select a.id from a, b', [1], [[1]]],
  ['select id from a union select b.id from b, c', [0, 1, 2], [[0, 1], [2]]],
  ['select b.id from b, c union select id from a', [0, 1, 2], [[0, 2], [1]]],
  ['select id from a where exists (select from b) or c', [0, 1], [[0], [1]]],
])('the focus sets of %s with changes in %j are %j', (text, changed, sets) => {
  const select = parseSelect(text);
  const isChanged = tablesIn(select).map((_, i) => changed.includes(i));
  expect(focusSets(select, isChanged)).toEqual(sets);
});

describe('a template', () => {
  it.each([
    ['select $1', ["'a'"], "select  ('a')"],
    ["select '$1', $2, $1 -- $1", ['1', '2'], "select '$1',  (2),  (1) -- $1"],
    ['select $$ $1 $$ || $1;', ["'x'"], "select $$ $1 $$ ||  ('x')"],
    [
      "select 'ü€𝄞' || $1 || $10",
      Array.from({ length: 10 }, (_, i) => `'${i + 1}'`),
      "select 'ü€𝄞' ||  ('1') ||  ('10')",
    ],
    ['select u&$1, $1[1], -$1', ["'1'"], "select u& ('1'),  ('1')[1], - ('1')"],
    ['with w as (select $2) select $1 from w', ['1', '2'], 'with w as (select  (2)) select  (1) from w'],
    ['select 1; -- the end', [], 'select 1'],
  ])('is rendered with literals: %s', (text, literals, expected) => {
    expect(render(toTemplate(text), literals)).toBe(expected);
  });
});
