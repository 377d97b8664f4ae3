import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { literal, namedLiteral } from '../../../packages/tidemark/src/db/literal.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const cases: [value: unknown, text: string, type: string][] = [
  [null, 'NULL', 'text'],
  [undefined, 'NULL', 'text'],
  ['plain', "'plain'", 'text'],
  ["O'Hara; drop table x --", "'O''Hara; drop table x --'", 'text'],
  ["back\\slash'", " E'back\\\\slash'''", 'text'],
  ['', "''", 'text'],
  ['snow ☃ 𝄞', "'snow ☃ 𝄞'", 'text'],
  [true, "'true'", 'boolean'],
  [-1.5, "'-1.5'", 'float8'],
  [NaN, "'NaN'", 'float8'],
  [9007199254740993n, "'9007199254740993'", 'bigint'],
  [Buffer.from([0, 255, 92]), " E'\\\\x00ff5c'", 'bytea'],
  [new Uint8Array([1, 2]), " E'\\\\x0102'", 'bytea'],
  [['a', 'b"c', null, 'd\\e'], ` E'{"a","b\\\\"c",NULL,"d\\\\\\\\e"}'`, 'text[]'],
  [
    [
      [1, 2],
      [3, 4],
    ],
    `'{{"1","2"},{"3","4"}}'`,
    'int[]',
  ],
  [{ a: ["it's"], b: null }, `'{"a":["it''s"],"b":null}'`, 'jsonb'],
  [{ toJSON: () => undefined }, 'NULL', 'text'],
  [{ toPostgres: () => 'own' }, "'own'", 'text'],
];

describe('literal', () => {
  it.each(cases)('equals the value as a parameter (case %#)', async (value, text, type) => {
    expect(literal(value)).toBe(text);
    const sql = `select ${literal(value)}::${type} is not distinct from $1::${type} as same`;
    expect((await database.pool.query(sql, [value])).rows).toEqual([{ same: true }]);
  });

  it.each(cases)('equals the value as a parameter if it has a name (case %#)', async (value, _, type) => {
    const sql = `select ${namedLiteral('p_1', value, type)} is not distinct from $1::${type} as same`;
    expect((await database.pool.query(sql, [value])).rows).toEqual([{ same: true }]);
  });

  it('does not contain its name in the value', async () => {
    for (const value of ['p_1=', 'p_1', 'a\np_1=b', '\n']) {
      const { rows } = await database.pool.query(`select ${namedLiteral('p_1', value, 'text')} as value`);
      expect(rows).toEqual([{ value }]);
    }
  });

  it('keeps the instant of a date', async () => {
    const date = new Date('2024-02-29T12:34:56.789Z');
    const { rows } = await database.pool.query(`select ${literal(date)}::timestamptz as date`);
    expect(rows[0].date).toEqual(date);
  });

  it('refuses U+0000, which would cut the statement short', () => {
    expect(() => literal('a\0b')).toThrow(RangeError);
    expect(() => literal(['a\0b'])).toThrow(RangeError);
    expect(() => namedLiteral('p_1', 'a\0b', 'text')).toThrow(RangeError);
  });
});
