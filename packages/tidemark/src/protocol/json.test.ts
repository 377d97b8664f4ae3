import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findInexactNumber, findUnstorable, isCarriedByDouble, maxArgsDepth } from './json.js';

const nested = (depth: number): unknown => JSON.parse(`${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`);

describe('the check for exact numbers', () => {
  it.each([
    '0',
    '-0',
    '1',
    '-1',
    '1.0',
    '1e3',
    '1E+3',
    '0.10',
    '0.1',
    '1e-1',
    '-0.0e5',
    '9007199254740994',
    '9007199254740991',
    '1180591620717411303424',
    '1e21',
    '5e-324',
    '1.7976931348623157e308',
    '0.1000000000000000055511151231257827021181583404541015625',
    '100000000000000000000000',
    '0e999999999999',
    '0.3e1',
    `1${'0'.repeat(22)}`,
    `1.${'0'.repeat(5000)}`,
  ])('accepts %s', (token) => expect(isCarriedByDouble(token)).toBe(true));

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '-1e400',
    '1E400',
    '3e-324',
    '0.1000000000000000055511151231257827',
    '1e-400',
    '123456789012345678901',
    '0.12345678901234567890',
    '1.00000000000000000001',
    '4.9e-325',
    '4.940656458412465e-324',
    '123456789012345678000',
    '0.10000000000000001',
    `1${'0'.repeat(400)}`,
    '1e99999999999999999999',
    '12345678901.234567890123',
  ])('rejects %s', (token) => {
    expect(isCarriedByDouble(token)).toBe(false);
    expect(findInexactNumber(`{"a":${token}}`)).toBe(5);
  });

  it('accepts everything that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json(), (text) => findInexactNumber(text) === undefined),
      { numRuns: 500 },
    );
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => isCarriedByDouble(String(n))));
  });

  it('agrees with BigInt about integers', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), (n) => {
        const token = n.toString();
        const shortest = BigInt(
          Number(token).toLocaleString('fullwide', { useGrouping: false, maximumSignificantDigits: 21 }),
        );
        expect(isCarriedByDouble(token)).toBe(
          BigInt(Number(token)) === n ||
            (shortest === n && String(Number(token)).includes('e')) ||
            String(Number(token)) === token,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('skips strings, however they end', () => {
    expect(findInexactNumber('["9007199254740993"]')).toBeUndefined();
    expect(findInexactNumber('["\\"9007199254740993"]')).toBeUndefined();
    expect(findInexactNumber('["\\\\", 9007199254740993]')).toBe(7);
    const text = '{"1e400": "\\\\\\"1e400", "b": 1e400}';
    expect(findInexactNumber(text)).toBe(text.lastIndexOf('1e400'));
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '1e400', '9007199254740993', 'a') }), (text) => {
        const prefix = `{${JSON.stringify(text)}:[${JSON.stringify(text)},`;
        expect(findInexactNumber(`${prefix}1e400]}`)).toBe(prefix.length);
      }),
    );
  });
});

describe('findUnstorable', () => {
  it.each([null, 0, '', 'a\0b', '𝄞', [], {}, { a: [{ b: '☃' }] }, nested(maxArgsDepth)])('accepts case %#', (args) => {
    expect(findUnstorable(args)).toBeUndefined();
  });

  it.each([
    ['\ud800', /lone surrogate/],
    [{ a: ['x\udc00'] }, /a string .* lone surrogate/],
    [{ a: 1, b: 'x\udc00' }, /a string .* lone surrogate/],
    [{ '\udc00': 1 }, /a key .* lone surrogate/],
    [JSON.parse('{"__proto__": "\\ud800"}'), /lone surrogate/],
    [nested(maxArgsDepth + 2), /deeper than 200/],
    [nested(100_000), /deeper than 200/],
  ])('says why case %# cannot be stored', (args, reason) => {
    expect(findUnstorable(args)).toMatch(reason);
  });

  it('finds a deep value after a wide one', () => {
    expect(findUnstorable([...Array(100_000).fill([[]]), nested(5_000)])).toMatch(/deeper/);
  });
});
