/** The keys and the values that a compiled view sends to clients for its rows. */
import { describe, expect, it } from 'vitest';
import { SetupError } from '../../../packages/tidemark/src/errors.js';
import { analyze } from '../../../packages/tidemark/src/view/analyze.js';
import { type CompiledView, compileView } from '../../../packages/tidemark/src/view/compile/compile.js';
import type { ValueOptions } from '../../../packages/tidemark/src/view/define.js';
import { keySql } from '../../../packages/tidemark/src/view/keys/key-sql.js';
import { render } from '../../../packages/tidemark/src/view/parse/template.js';
import { useDatabase } from './opened.js';

const opened = useDatabase(`
    create table t (id int primary key, s text, big bigint, n numeric, "odd ""name" text);
    create table other (id int primary key, t_id int);`);

async function compile(
  text: string,
  key: readonly string[] = ['id'],
  prefix = 'x/',
  options?: ValueOptions,
): Promise<CompiledView> {
  return compileView({ name: "ann's", prefix, key }, await analyze(opened.db, text, key), options);
}

/** The rows of a view as a client has them: pairs of key and value. */
async function rowsOf({ key, valueSql, now }: CompiledView, literals: readonly string[] = []) {
  const text = `select ${keySql(key, literals)} as key, ${valueSql} as value from (${render(now, literals)}) v order by 1`;
  const { rows } = await opened.database.pool.query<{ key: string; value: string }>(text);
  return rows.map((row) => [row.key, JSON.parse(row.value)]);
}

describe('a key', () => {
  it.each([
    ['is the unchanged column after the prefix', ['a'], 'x/', ['x/1/2%']],
    ['of several columns separates them', ['a', 'b'], '', ['1%2F2%25/3']],
    ['may have a quote in its prefix', ['a'], "o'", ["o'1/2%"]],
  ])('%s', async (_, key, prefix, expected) => {
    const view = await compile("select '1/2%' as a, '3'::text as b", key, prefix);
    expect((await rowsOf(view)).map(([name]) => name)).toEqual(expected);
    expect(view).toMatchObject({ prefix, key: { columns: key } });
  });

  it('that is null causes an error that names the view', async () => {
    for (const key of [['a'], ['a', 'b']]) {
      const view = await compile('select null::text as a, 1 as b', key);
      await expect(rowsOf(view)).rejects.toThrow("ann's");
    }
  });
});

describe('a value', () => {
  it.each<[column: string, type: string, value: unknown]>([
    ['9007199254740991', 'bigint', 9007199254740991],
    ['-9007199254740991', 'bigint', -9007199254740991],
    ['9007199254740992', 'bigint', '9007199254740992'],
    ['-9007199254740992', 'bigint', '-9007199254740992'],
    ['null', 'bigint', null],
    ['0.123456789012345', 'numeric', 0.123456789012345],
    ['-12345678901234.50', 'numeric', -12345678901234.5],
    ['1234567890123456', 'numeric', '1234567890123456'],
    ['0.1234567890123456', 'numeric', '0.1234567890123456'],
    ["'NaN'", 'numeric', 'NaN'],
    ['null', 'numeric', null],
    ['7', 'int', 7],
    ["'7'", 'text', '7'],
  ])('from %s::%s is %j', async (column, type, value) => {
    for (const beside of ['1::int', '1::bigint', '1.5::numeric']) {
      const text = `select ${beside} as id, ${column}::${type} as "a ""b"`;
      const [row] = await rowsOf(await compile(text));
      expect(row![1]).toEqual({ id: Number.parseFloat(beside), 'a "b': value });
      const [alone] = await rowsOf(await compile(text, ['id'], 'x/', { value: 'a "b' }));
      expect(alone).toEqual([`x/${Number.parseFloat(beside)}`, value]);
    }
  });

  it('is refused if it names a missing column', async () => {
    const compiled = compile('select 1 as id, 2 as "b/"', ['id'], 'x/', { value: 'c' });
    await expect(compiled).rejects.toThrow(SetupError);
    await expect(compiled).rejects.toThrow(
      'its value names the column c, which the query does not return. It returns: id, b/',
    );
  });

  it.each<[options: ValueOptions, value: object]>([
    [{}, { id: 1, list_id: null, _a__b_: 'x', at: null }],
    [{ columns: 'camelCase' }, { id: 1, listId: null, _aB: 'x', at: null }],
    [
      { columns: { list_id: 'listID "é\\', at: 'list_id' } },
      { id: 1, 'listID "é\\': null, _a__b_: 'x', list_id: null },
    ],
    [{ nulls: 'omit' }, { id: 1, _a__b_: 'x' }],
    [
      { nulls: 'omit', columns: { id: 'x'.repeat(70) } },
      { ['x'.repeat(70)]: 1, _a__b_: 'x' },
    ],
    [{ timestamps: 'UTC' }, { id: 1, list_id: null, _a__b_: 'x', at: null }],
  ])('has the format of the options %j', async (options, value) => {
    const text = `select null::text as list_id, 'x'::text as "_a__b_", 1 as id, null::timestamptz as at`;
    expect(await rowsOf(await compile(text, ['id'], 'x/', options))).toStrictEqual([['x/1', value]]);
  });

  it.each([
    ['2026-02-03 04:05:06.7+13:45', '2026-02-02T14:20:06.7Z'],
    ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00Z'],
    ['0001-12-31 23:59:59.999999+00 BC', '0001-12-31T23:59:59.999999 BC'],
    ['9999-12-31 23:59:59.999999+00', '9999-12-31T23:59:59.999999Z'],
    ['10000-01-01 00:00:00+00', '10000-01-01T00:00:00'],
    ['-infinity', '-infinity'],
  ])('has the time %s in UTC as %s, and so does the key', async (time, expected) => {
    const view = await compile(`select '${time}'::timestamptz as at`, ['at'], 'x/', { timestamps: 'UTC' });
    const [[name, value]] = (await rowsOf(view)) as [[string, unknown]];
    expect([name, value]).toEqual([`x/${expected}`, { at: expected }]);
    const text = await compile(`select '${time}'::timestamptz as at`, ['at'], 'x/', { timestamps: 'UTC', value: 'at' });
    expect(await rowsOf(text)).toEqual([[`x/${expected}`, expected]]);
  });

  it.each<[options: ValueOptions, message: string]>([
    [{ columns: 'camelCase' }, 'two of its columns are called aB by clients. Rename one of them with AS'],
    [{ columns: { a_b: 'id' } }, 'two of its columns are called id by clients'],
    [{ columns: { c: 'd' } }, 'it renames the column c, which the query does not return. It returns: id, a_b, aB'],
    [{ value: 'id', nulls: 'omit' }, 'its value is one column, so there are no columns to rename'],
    [{ value: 'id', columns: {} }, 'Remove columns and nulls, or value'],
  ])('is refused with the options %j', async (options, message) => {
    const compiled = compile('select 1 as id, 2 as a_b, 3 as "aB"', ['id'], 'x/', options);
    await expect(compiled).rejects.toThrow(SetupError);
    await expect(compiled).rejects.toThrow(message);
  });

  it('affects the view’s digest through its options', async () => {
    const variants: (ValueOptions | undefined)[] = [
      ...[undefined, { value: 'id' }, { value: 'b' }, { columns: 'camelCase' }, { columns: { id: 'x' } }],
      ...[{ columns: { id: 'y' } }, { nulls: 'omit' }, { timestamps: 'UTC' }],
    ] as const;
    const digests = await Promise.all(
      variants.map(async (options) => (await compile('select 1 as id, 2 as b', ['id'], 'x/', options)).digest),
    );
    expect(new Set(digests).size).toBe(variants.length);
    expect((await compile('select 1 as id, 2 as b', ['id'], 'x/', { value: undefined })).digest).toBe(digests[0]);
  });
});

describe('a query', () => {
  it('is read with its parameters', async () => {
    await opened.database.pool.query("insert into t (id, s) values (1, 'a'), (2, 'b')");
    const view = await compile('select id, s from t where s = $1 or id = $2');
    expect(view).toMatchObject({ name: "ann's", strategy: 'incremental', choosesByKey: false });
    expect(view.parameterTypes).toHaveLength(2);
    expect(await rowsOf(view, ["'b'", '7'])).toEqual([['x/2', { id: 2, s: 'b' }]]);
  });

  it('reads other states of its tables, and caches the rewritten text', async () => {
    const view = await compile('select t.id from t, other o where o.t_id = t.id and t.s = $1');
    const text = (tableStates: readonly string[], focuses?: readonly number[]) =>
      render(view.variants.atStates(tableStates, focuses), ["'a'"]).replace(/\s+/g, ' ');
    expect(text(['plus', 'now'])).toMatch(/from plus as t, other as o where/i);
    expect(text(['now', 'plus'])).toMatch(/from t, plus as o where/i);
    expect(view.variants.atStates(['now', 'plus'])).toBe(view.variants.atStates(['now', 'plus']));
    const { rows } = await opened.database.pool.query(
      "select array['t'::regclass::int, 'other'::regclass::int] as oids",
    );
    expect(view.occurrenceTables).toEqual(rows[0].oids);
    expect(view.variants.focusSets([true, false])).toEqual([[0]]);
    expect(view.variants.focusSets([true, true])).toEqual([[0], [1]]);
    expect(view.variants.focusSets([true, true])).toBe(view.variants.focusSets([true, true]));
  });

  it('is rewritten without the branches that its focuses do not need', async () => {
    const view = await compile('select id from t union select id from other');
    expect(view.variants.focusSets([true, true])).toEqual([[0, 1]]);
    expect(view.variants.focusSets([false, true])).toEqual([[1]]);
    const whole = render(view.variants.atStates(['now', 'plus']), []);
    expect(render(view.variants.atStates(['now', 'plus'], [1]), [])).not.toBe(whole);
    expect(whole).not.toMatch(/false/i);
  });
});
