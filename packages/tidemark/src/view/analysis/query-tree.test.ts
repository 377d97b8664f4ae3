import { describe, expect, it } from 'vitest';
import { isSameQuery, nodeList, numberOf, parseQueryTree, type QueryNode, queryNodes } from './query-tree.js';

const fieldsOf = (text: string) => parseQueryTree(text).fields;

describe('the text of an analyzed query', () => {
  it.each<[text: string, fields: QueryNode['fields']]>([
    ['{A}', {}],
    ['{A :x 1 :y true}', { x: '1', y: 'true' }],
    ['{A :x <> :y -1}', { x: null, y: '-1' }],
    ['{A :x (1 2 (3)) :y ()}', { x: ['1', '2', ['3']], y: [] }],
    ['{A :x {B :y 1}}', { x: { tag: 'B', fields: { y: '1' } } }],
    ['{A :x ("a" "b\\ c" """)}', { x: ['a', 'b c', '"'] }],
    ['{A :x a\\ b\\(c\\)\\\\ :y "}', { x: 'a b(c)\\', y: '"' }],
    ['{A :x a" :y b"c" :z "d}', { x: 'a"', y: 'b"c"', z: '"d' }],
    ['{A :value 4 [ 1 0 0 -1 ] :y 2}', { value: '4', y: '2' }],
    ['{A :x (b 1 2)\n  :y\t3}', { x: ['b', '1', '2'], y: '3' }],
  ])('is parsed: %s', (text, fields) => {
    expect(parseQueryTree(text)).toEqual({ tag: 'A', fields });
  });

  it.each(['', '{', '{A :x', '{A :x (1', '{A :x {B'])('that ends early is rejected: %j', (text) => {
    expect(() => parseQueryTree(text)).toThrow('The parse tree from Postgres ends early');
  });

  it.each(['word', '<>', '({A})'])('that is not a node is rejected: %j', (text) => {
    expect(() => parseQueryTree(text)).toThrow('The parse tree from Postgres is not a node');
  });
});

describe('a query tree', () => {
  const tree = parseQueryTree('{A :x {B :y ({C} 1 ({D}))} :z ({E} <> {F}) :n -12 :m 1x :o x1 :p <> :q (7)}');

  it('yields each of its nodes, from the outside in', () => {
    expect([...queryNodes(tree)].map(({ tag }) => tag)).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
    expect([...queryNodes(undefined), ...queryNodes('word')]).toEqual([]);
  });

  it('yields nodes only from lists, and numbers only from numbers', () => {
    expect(nodeList(tree, 'z').map(({ tag }) => tag)).toEqual(['E', 'F']);
    expect(['x', 'n', 'missing'].map((name) => nodeList(tree, name))).toEqual([[], [], []]);
    expect(['n', 'm', 'o', 'p', 'q', 'x', 'missing'].map((name) => numberOf(tree, name))).toEqual([
      -12, ...Array(6).fill(undefined),
    ]); // biome-ignore format: a row of values
  });
});

it.each([
  ['{A :location 1 :x 2}', '{A :location 7 :x 2}', true],
  ['{A :stmt_location 1 :stmt_len 2 :list_start 3 :rexpr_list_end 4}', '{A :stmt_len 5}', true],
  ['{A :alias {B} :x {C :aliasname a}}', '{A :alias <> :x {C :aliasname b}}', true],
  ['{A :x 1}', '{A :x 2}', false],
  ['{A :my_location 1}', '{A :my_location 2}', false],
  ['{A :location_of 1}', '{A :location_of 2}', false],
])('%s and %s are the same query: %s', (one, other, expected) => {
  expect(isSameQuery(fieldsOf(`{X :q ${one}}`).q!, fieldsOf(`{X :q ${other}}`).q!)).toBe(expected);
});
