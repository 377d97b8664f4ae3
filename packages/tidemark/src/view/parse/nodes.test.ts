/** Our nodes are the same as the parser's. */
import { beforeAll, expect, it } from 'vitest';
import { ascending, bytes, call, cast, columnRef, integer, put } from './nodes.js';
import { isSame, parserLoaded, parseSelect } from './syntax.js';
import type { Tree } from './tree.js';

beforeAll(() => parserLoaded);

it.each<[text: string, make: () => Tree]>([
  ['x', () => columnRef('x')],
  ['a.b', () => columnRef('a', 'b')],
  ['a.*', () => columnRef('a', '*')],
  ['*', () => columnRef('*')],
  ['7', () => integer(7)],
  ['x::o.kind', () => cast(columnRef('x'), 'o', 'kind')],
  ['o.f(1, x)', () => call(['o', 'f'], integer(1), columnRef('x'))],
  [`pg_catalog.textcat(x::text, '') collate pg_catalog."C"`, () => bytes(columnRef('x'))],
])("the node of %s equals the parser's", (text, make) => {
  const [target] = parseSelect(`select ${text}`).targetList as { ResTarget: { val: Tree } }[];
  expect(isSame(make(), target!.ResTarget.val)).toBe(true);
});

it("the node of an item of ORDER BY equals the parser's", () => {
  const [item] = parseSelect('select 1 order by x').sortClause as Tree[];
  expect(isSame(ascending(columnRef('x')), item!)).toBe(true);
});

it('put replaces the contents of a node by those of another', () => {
  const holder = columnRef('x');
  put(holder, integer(1));
  expect(holder).toEqual(integer(1));
});
