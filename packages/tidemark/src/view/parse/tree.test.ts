/** Walking a parse tree. */
import { beforeAll, describe, expect, it } from 'vitest';
import { parserLoaded, parseSelect } from './syntax.js';
import { names, visits, visitsHere } from './tree.js';

beforeAll(() => parserLoaded);

it.each<[text: string, types: string]>([
  ['select 1', 'ResTarget A_Const'],
  ['select a::x', 'ResTarget TypeCast ColumnRef String String'],
  ['select from a join b on true', 'JoinExpr RangeVar RangeVar A_Const'],
  ['select f((select 1)), $1', 'ResTarget FuncCall String SubLink SelectStmt ResTarget A_Const ResTarget ParamRef'],
  [
    'select 1 union select (select $1)',
    'SelectStmt ResTarget A_Const SelectStmt ResTarget SubLink SelectStmt ResTarget ParamRef',
  ],
])('a walk through %s visits each node, outermost first and in the order of the text', (text, types) => {
  expect([...visits(parseSelect(text))].map(({ type }) => type).join(' ')).toBe(types);
});

it('a walk yields the nodes themselves', () => {
  const select = parseSelect('select x');
  for (const { type, node } of visits(select)) if (type === 'String') node.sval = 'y';
  expect([...visits(select)].map(({ node }) => node.sval).at(-1)).toBe('y');
});

it.each([null, undefined, 'text', 1])('a walk through %j visits nothing', (value) => {
  expect([...visits(value)]).toEqual([]);
});

describe('a walk through a single SELECT', () => {
  it.each<[text: string, types: string]>([
    ['select f((select $1)), $2', 'ResTarget FuncCall String SubLink SelectStmt ResTarget ParamRef'],
    ['select 1 union select 2', 'SelectStmt SelectStmt'],
    ['select from (select 1) v where $1', 'RangeSubselect SelectStmt ParamRef'],
  ])('omits the contents of subqueries: %s', (text, types) => {
    const visited = [...visitsHere(parseSelect(text))].map(({ type }) => type);
    expect(visited.filter((type) => type !== 'Alias').join(' ')).toBe(types);
  });
});

it.each<[list: unknown, expected: readonly string[]]>([
  [
    [{ String: { sval: 'a' } }, { String: { sval: 'b' } }],
    ['a', 'b'],
  ],
  [
    [{ String: { sval: 'a' } }, { A_Star: {} }],
    ['a', '*'],
  ],
  [undefined, []],
])('the names in %j are %j', (list, expected) => {
  expect(names(list)).toEqual(expected);
});
