import { describe, expect, it } from 'vitest';
import { idempotencyKeyOf, prefersRollback } from './rest.js';

describe('Idempotency-Key', () => {
  const keyOf = (value: string) => idempotencyKeyOf(new Headers({ 'Idempotency-Key': value }));

  it('is optional', () => {
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
  ])('with the value %s is the key %s', (value, key) => {
    expect(keyOf(value)).toBe(key);
  });

  it.each(['', '""', '"', '"a', '"a"b', 'a\u00e9', '\u00e9', '"\u00e9"', '"a\\b"', '"a\tb"', 'k'.repeat(256)])(
    'with the value %j is refused',
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
  ])('with the value %s requests a rollback: %s', (value, expected) => {
    expect(prefersRollback(new Headers({ Prefer: value }))).toBe(expected);
  });

  it('is optional', () => {
    expect(prefersRollback(new Headers())).toBe(false);
  });
});
