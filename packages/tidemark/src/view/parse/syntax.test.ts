import { beforeAll, describe, expect, it } from 'vitest';
import { SetupError } from '../../errors.js';
import { inspect } from '../inspect.js';
import { deparseSelect, isSame, parserLoaded, parseSelect, parseStatement } from './syntax.js';
import { type Tree, visits } from './tree.js';

beforeAll(() => parserLoaded);

describe('parseStatement', () => {
  it.each([
    ['select 1', 'select 1'],
    ["select 'é€;' ; ", "select 'é€;' "],
    ['  select 1;-- the end', '  select 1'],
    ['/* ü */ values (1)\n;\n', '/* ü */ values (1)\n'],
  ])('reads %j as %j', (input, text) => {
    expect(parseStatement(input)).toEqual({ text, select: parseSelect(text) });
  });

  it.each([
    ['', 'the query does not parse: Query cannot be empty'],
    ['-- nothing', 'the query must be exactly one statement'],
    ['select 1; select 2', 'the query must be exactly one statement'],
    ['table t; insert into t values (1)', 'the query must be exactly one statement'],
    ['delete from t', 'the query must be a SELECT'],
    ['create view v as select 1', 'the query must be a SELECT'],
    ['select from where', 'the query does not parse: syntax error at or near "where"'],
  ])('rejects %j: %s', (input, message) => {
    expect(() => parseStatement(input)).toThrow(new SetupError(message));
  });
});

function refusalOf(select: Tree): string {
  try {
    return `it is written: ${deparseSelect(select)}`;
  } catch (error) {
    return (error as SetupError).message;
  }
}

describe('deparseSelect', () => {
  it.each([
    'select x from t order by x fetch first 3 rows with ties',
    'select x from t order by x offset 2 fetch first (1 + $1) rows with ties',
    'select x from t order by x limit 3 offset 2',
    'select a, b from t group by distinct rollup (a, b), a',
    'select a from t group by a, cube (b, c)',
    'with "W x" as (select 1 as id), w as materialized (select 2 as id) select * from "W x", w',
    'select (t).x, (t.y).z, ($1).a, (f(x)).b, (array[1, 2])[1], (select array[1])[1:2] from t',
    'select x from t union (select y from u order by y limit 1) except all select 1',
    "select 'it''s', e'\\n', $$ $1 $$, b'01', x'ff', 1e3, -1, null, true",
    'select count(*) filter (where x > 1), row_number() over w from t window w as (partition by a order by b)',
  ])('preserves the query: %s', (text) => {
    const select = parseSelect(text);
    expect(isSame(parseSelect(deparseSelect(select)), select)).toBe(true);
  });

  it.each<[Tree, string]>([
    [{ RangeVar: { relname: 't', inh: 'maybe' } }, 'it contains a RangeVar'],
    [{ JsonSomething: {} }, 'it contains a JsonSomething'],
    [
      { RangeVar: { relname: 't', alias: { aliasname: 'x', colnames: [{ String: { sval: '' } }] } } },
      'after rewriting, the query does not parse: syntax error at',
    ],
  ])('rejects syntax that cannot be written, and names it: %j', (item, reason) => {
    const select = { ...parseSelect('select 1'), fromClause: [item] };
    expect(refusalOf(select)).toContain(`it uses syntax that Tidemark cannot rewrite faithfully (${reason}`);
  });

  it.each<[text: string, odd: (type: string, node: Tree) => Tree | false, innermost: string]>([
    ['select a from t where x > (select f(b, 1) from u)', (type, node) => type === 'FuncCall' && node, 'FuncCall'],
    ['select f(a) + g(b)', (type, node) => type === 'FuncCall' && node, 'A_Expr'],
    ['select f(a), g(b)', (type, node) => type === 'FuncCall' && node, 'SelectStmt'],
    ['select a::x', (type, node) => type === 'TypeCast' && (node.typeName as Tree), 'TypeCast'],
  ])('names the innermost node that cannot be written: %s', (text, oddIn, innermost) => {
    for (const odd of ['a field that is not written', { Odd: 1 }]) {
      const select = parseSelect(text);
      for (const { type, node } of visits(select)) Object.assign(oddIn(type, node) || {}, { odd });
      expect(refusalOf(select)).toContain(`(it contains a ${innermost})`);
    }
  });

  it('names a node in a subquery that cannot be written', () => {
    const select = parseSelect('select 1 from (select 2) v');
    for (const { type, node } of visits(select)) if (type === 'SelectStmt') node.fromClause = [{ JsonSomething: {} }];
    expect(refusalOf(select)).toContain('(it contains a JsonSomething)');
  });

  it.each([
    ['select  a', 'select a', true],
    ['select a /* b */ from t', 'select a from   t', true],
    ['select a in (1, 2)', 'select a in ( 1, 2 )', true],
    ['select a', 'select b', false],
    ['select 1, 2', 'select 2, 1', false],
    ['select a as x', 'select a', false],
  ])('is verified by comparison, which finds %s the same as %s: %s', (one, other, expected) => {
    expect(isSame(parseSelect(one), parseSelect(other))).toBe(expected);
  });
});

describe('inspect', () => {
  it.each([
    ['select current_date', 'which changes without a write'],
    ['select id from t where at < localtimestamp', 'which changes without a write'],
    ['select id from t for share', 'Remove the locking clause'],
    ['select id from t tablesample system (1)', 'TABLESAMPLE'],
    ['select id into u from t', 'it has an INTO clause. Remove it'],
    ['with x as (insert into t values (1) returning id) select id from x', 'it writes. A view can only read'],
    ['with x as (update t set id = 1 returning id) select id from x', 'it writes. A view can only read'],
    ['with x as (delete from t returning id) select id from x', 'it writes. A view can only read'],
    ['select id from only t', 'it reads ONLY t. Remove ONLY'],
    ['select id from u where exists (select from only t)', 'it reads ONLY t. Remove ONLY'],
    ['with tidemark_x as (select 1) select 1', 'it uses the name tidemark_x, which'],
    ['select 1 from t tidemark_parameters', 'it uses the name tidemark_parameters, which'],
    ['select 1 from t tidemark_key', 'it uses the name tidemark_key, which'],
    ['select 1 from t tidemark_s where exists (select from u)', 'it uses the name tidemark_s, which'],
    ['select 1 from tidemark_p1', 'it uses the name tidemark_p1, which'],
    ['select 1 from (select 1) tidemark_d12', 'it uses the name tidemark_d12, which'],
    ['select 1 from t join u on true as tidemark_t1', 'syntax error'],
    ['select 1 from (t join u on true) tidemark_t1', 'it uses the name tidemark_t1, which'],
  ])('rejects %s', (text, message) => {
    expect(() => inspect(parseSelect(text))).toThrow(message);
  });

  it.each([
    'with w as (select 1 as tidemark_parameters) select tidemark_parameters from w',
    'select 1 from tidemark_key as k',
    'select 1 from t tidemark_left, u tidemark_d, v my_tidemark_parameters, w tidemark_t1x',
    'with my_tidemark_x as (select 1) select 1',
  ])('accepts what only looks similar: %s', (text) => {
    inspect(parseSelect(text));
  });
});
