/** For every type that can be a key, the key's text is what JavaScript's String makes of the row's field. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quotedText } from '../../../packages/tidemark/src/sql.js';
import { analyze } from '../../../packages/tidemark/src/view/analyze.js';
import { compileView } from '../../../packages/tidemark/src/view/compile/compile.js';
import type { ValueOptions } from '../../../packages/tidemark/src/view/define.js';
import { keySql, keyValues } from '../../../packages/tidemark/src/view/keys/key-sql.js';
import { render } from '../../../packages/tidemark/src/view/parse/template.js';
import { type PreparedView, prepareView } from '../../../packages/tidemark/src/view/served-view.js';
import { useDatabase } from './opened.js';

const opened = useDatabase(`
    create extension hstore;
    create type mood as enum ('sad', 'a/b');
    create type pair as (a integer, b text);
    create domain amounts as numeric[]`);

/** A view over values of one type. They are its only parameter, as texts. */
function viewOf(type: string, options: ValueOptions = {}): Promise<PreparedView> {
  const text = `select value::${type} as k from unnest($1::text[]) value`;
  return prepareView(opened.db, { name: 'x', prefix: '', key: ['k'], text, ...options });
}

interface KeyAndField {
  /** The client's key. */
  readonly key: string;
  /** The field of the row, as JavaScript reads it. */
  readonly field: unknown;
}

/** @param values an SQL expression for the texts */
async function keysOf({ view }: PreparedView, values: string, parameters: unknown[] = []): Promise<KeyAndField[]> {
  const text = `select ${keySql(view.key, [values])} as key, ${view.valueSql} as row from (${render(view.now, [values])}) v`;
  const { rows } = await opened.database.pool.query<{ key: string; row: string }>(text, parameters);
  return rows.map(({ key, row }) => ({ key, field: (JSON.parse(row) as { k: unknown }).k }));
}

const settings = `set datestyle = 'German'; set timezone = 'Asia/Kathmandu'; set intervalstyle = 'sql_standard'`;

describe('a key', () => {
  it.each<[type: string, ...values: string[]]>([
    ['numeric', '1.50', '1.0', '-0.0', '-12.340', '100', '0.000001', '0.0000001', '-0.00000120', '123456789012345'],
    ['numeric', '1234567890123456.00', '0.12345678901234567', '1e21', '-1e400', '1e-300', '12e-301', '1e-400', 'NaN'],
    ['numeric(10, 2)', '1.5', '-1', '0'],
    ['double precision', '1.5', '-0', '1e-6', '1e-7', '0.1', '1e15', '1e20', '123456789012345680000', '1e21', '1e23'],
    ['double precision', 'NaN', '-Infinity', '1.7976931348623157e308', '18014398509481988', '-1e23', '5e-324'],
    ['real', '1.1', '1e6', '16777216', '1e-7', '-3.4028235e38', '1e-45', 'Infinity', 'NaN', '-0'],
    ['bigint', '9007199254740993', '-7'],
    ['boolean', 'true', 'false'],
    ['character(4)', 'a', 'a b', ''],
    ['"char"', 'a', ''],
    ['uuid', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'],
    ['date', '2026-02-03', '0044-03-15 BC', 'infinity', '10000-01-01'],
    ['timestamp', '2026-02-03 04:05:06.7', '0044-03-15 12:00 BC', '-infinity', '10000-01-01 00:00'],
    [
      'timestamptz',
      '2026-02-03 04:05:06.7+13:45',
      '0044-03-15 12:00+00 BC',
      '1800-01-01 00:00+00',
      '10000-01-01 00:00+00',
    ],
    ['time', '12:30:15.5', '24:00'],
    ['interval', '1 day', '24:00:00', '1 mon -3 days', '-00:00:01'],
    ['inet', '10.0.0.1', '10.0.0.0/8', '::1'],
    ['cidr', '10.0.0.0/8'],
    ['macaddr', '08:00:2b:01:02:03'],
    ['bytea', '\\xdeadbeef', ''],
    ['bit(4)', '1010'],
    ['money', '1.50'],
    ['int4range', '[1,3)', 'empty', '(,)'],
    ['int4multirange', '{[1,3),[5,7)}'],
    ['oid', '4294967295'],
    ['pg_lsn', '16/B374D848'],
    ['tsvector', "'a':1 'b':2"],
    ['mood', 'a/b'],
  ])('of the type %s equals String of the field and finds the row: %s', async (type, ...values) => {
    const prepared = await viewOf(type);
    const { view } = prepared;
    for (const set of ['', settings]) {
      const client = await opened.database.pool.connect();
      try {
        await client.query(set || 'select');
        for (const value of values) {
          const given = `array[${quotedText(value)}]`;
          const rows = `(${render(view.now, [given])}) v`;
          const { rows: found } = await client.query<{ key: string; row: string }>(
            `select ${keySql(view.key, [given])} as key, ${view.valueSql} as row from ${rows}`,
          );
          const text = String((JSON.parse(found[0]!.row) as { k: unknown }).k);
          expect(found[0]!.key).toBe(text);
          const isFound = `v.k = ${keyValues(view.key, text)![0]} and ${keySql(view.key, [given])} = ${quotedText(text)}`;
          expect((await client.query(`select from ${rows} where ${isFound}`)).rowCount).toBe(1);
        }
      } finally {
        client.release(true);
      }
    }
  });

  it('of any double equals String of the field', async () => {
    const seed = Math.trunc(Math.random() * 2 ** 31);
    const bits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((n) => {
      const bytes = new DataView(new ArrayBuffer(8));
      bytes.setBigUint64(0, n);
      return bytes.getFloat64(0);
    });
    // The shortest decimals of many of these lie halfway between two doubles.
    const round = fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 17n }), fc.integer({ min: 0, max: 24 }))
      .map(([n, zeros]) => Number(n * 10n ** BigInt(zeros)));
    const doubles = fc.sample(fc.oneof(bits, round), { seed, numRuns: 20_000 });
    const found = await keysOf(await viewOf('double precision'), '$1::text[]', [doubles.map(String)]);
    expect(found).toHaveLength(doubles.length);
    const wrong = found.filter(({ key, field }) => key !== String(field));
    expect(wrong, `seed ${seed}`).toEqual([]);
    expect(new Set(found.map(({ key }) => key)).size).toBe(new Set(doubles.map(String)).size);
  });
});

it.each([
  ['text[]', 'text[]'],
  ['amounts', 'numeric[]'],
  ['json', 'json'],
  ['jsonb', 'jsonb'],
  ['pair', 'pair'],
  ['hstore', 'hstore'],
])('a key of the type %s is refused', async (type, named) => {
  await expect(viewOf(type)).rejects.toThrow(
    `The view "x" cannot be served: its key names the column k of the type ${named}, which is sent as an array, an object or any JSON, and a key is made of texts and numbers. Return what identifies the row as columns of their own, or cast it: k::text as k`,
  );
});

it('a view gets another digest only if the text of its keys can differ', async () => {
  const digestOf = async (type: string) => {
    const text = `select null::${type} as k`;
    return compileView(
      { name: 'x', prefix: 'x/', key: ['k'] },
      { ...(await analyze(opened.db, text, ['k'])), text: 'select 1' },
    ).digest;
  };
  const same = ['text', 'integer', 'bigint', 'uuid', 'boolean', 'varchar(3)', 'oid', 'name'];
  expect(new Set(await Promise.all(same.map(digestOf)))).toHaveLength(1);
  for (const type of ['numeric', 'real', 'timestamp', 'timestamptz', 'character(3)', 'inet', 'date']) {
    expect(await digestOf(type)).not.toBe(await digestOf('text'));
  }
});
