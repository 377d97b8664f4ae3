import { describe, expect, it } from 'vitest';
import { idempotencyKeyOf, prefersRollback } from './rest.js';

describe('Idempotency-Key', () => {
  const keyOf = (value: string) => idempotencyKeyOf(new Headers({ 'Idempotency-Key': value }));

  it('may be left out', () => {
    expect(idempotencyKeyOf(new Headers())).toBeUndefined();
  });

  it.each([
    ['abc', 'abc'],
    ['  a b!  ', 'a b!'],
    ['a"b', 'a"b'],
    ['"abc"', 'abc'],
    ['" a, b "', ' a, b '],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['!~', '!~'],
    ['k'.repeat(255), 'k'.repeat(255)],
    [`"${'k'.repeat(255)}"`, 'k'.repeat(255)],
  ])('%s is the key %s', (value, key) => {
    expect(keyOf(value)).toBe(key);
  });

  it.each(['', '""', '"', '"a', '"a"b', 'a\u00e9', '\u00e9', '"\u00e9"', '"a\\b"', '"a\tb"', 'k'.repeat(256)])(
    '%j is none',
    (value) => {
      expect(() => keyOf(value)).toThrow(
        expect.objectContaining({
          code: 'malformed-request',
          message: 'Idempotency-Key must be a string of 1 to 255 ASCII characters',
        }),
      );
    },
  );
});

describe('Prefer', () => {
  it.each([
    ['tx=rollback', true],
    ['TX = "Rollback" ; why="test"', true],
    ['respond-async, wait=10,  tx=rollback', true],
    ['tx=rollback;x', true],
    ['tx=commit', false],
    ['tx', false],
    ['rollback', false],
    ['atx=rollback', false],
    ['tx=rollbacks', false],
    ['x;tx=rollback', false],
    ['', false],
  ])('%s: the call is rolled back: %s', (value, expected) => {
    expect(prefersRollback(new Headers({ Prefer: value }))).toBe(expected);
  });

  it('may be left out', () => {
    expect(prefersRollback(new Headers())).toBe(false);
  });
});
