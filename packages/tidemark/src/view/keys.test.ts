/** Keys of two views overlap exactly when `canOverlap` says so, and no two rows of a view share a key. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyValues } from './keys/key-sql.js';
import { canOverlap, describeKeys, isTemplate, type Keys, patternOf, readKey } from './keys/patterns.js';

const escaped = (text: string) => text.replaceAll('%', '%25').replaceAll('/', '%2F');

function keyOf({ prefix, pattern: { texts, columns, isRaw } }: Keys, values: readonly string[]): string {
  const parts = columns.map((_, i) => `${isRaw ? values[i] : escaped(values[i]!)}${texts[i + 1]}`);
  return `${prefix}${texts[0]}${parts.join('')}`;
}

const some = (min: number, max: number, letters = 'ab/') =>
  fc.array(fc.constantFrom(...letters), { minLength: min, maxLength: max }).map((list) => list.join(''));
const template = fc
  .tuple(some(0, 2), fc.array(fc.tuple(some(0, 1, 'ab'), some(0, 1, 'ab')), { maxLength: 1 }), some(0, 2))
  .map(([start, between, end]) => {
    const columns = [...between.map(([one, other], i) => `{c${i}}${one}/${other}`), `{c${between.length}}`];
    return `${start}${columns.join('')}${end}`;
  });
const keys: fc.Arbitrary<Keys> = fc.oneof(
  fc.record({ prefix: some(0, 2), pattern: template.map((text) => patternOf({ key: [], template: text })) }),
  fc.record({
    prefix: some(0, 2),
    pattern: fc.integer({ min: 1, max: 2 }).map((n) => patternOf({ key: ['c0', 'c1'].slice(0, n) })),
  }),
);

/** Values for the columns of one view with which its keys can look like those of another. */
function valuesAfter({ prefix, pattern }: Keys): string[] {
  const fixed = `${prefix}${pattern.texts.join('')}`;
  const offsets = [...fixed, ''].map((_, i) => i);
  const parts = new Set(offsets.flatMap((from) => offsets.map((to) => fixed.slice(from, to))));
  return [...parts].flatMap((part) => ['', 'a', 'b'].map((end) => `${part}${end}`));
}

function matchesPattern({ prefix, pattern: { texts, isRaw } }: Keys, key: string): boolean {
  return new RegExp(`^${prefix}${texts.join(isRaw ? '.*' : '[^/]*')}$`).test(key);
}

/** True if some key of one view is also a key of the other. */
function overlap(one: Keys, other: Keys): boolean {
  const { columns, isRaw } = other.pattern;
  const values = [...new Set(valuesAfter(one))].filter((text) => isRaw || !text.includes('/'));
  return values.some((a) =>
    (columns.length > 1 ? values : ['']).some((b) => matchesPattern(one, keyOf(other, [a, b]))),
  );
}

describe('keys of two views', () => {
  it('overlap if and only if canOverlap says so', () => {
    const counts = { yes: 0, no: 0 };
    fc.assert(
      fc.property(keys, keys, (one, other) => {
        const doOverlap = overlap(one, other);
        counts[doOverlap ? 'yes' : 'no']++;
        expect(canOverlap(one, other), `${describeKeys(one)} and ${describeKeys(other)}`).toBe(doOverlap);
        expect(canOverlap(other, one)).toBe(canOverlap(one, other));
      }),
      { seed: 1, numRuns: 1000 },
    );
    expect(Math.min(counts.yes, counts.no)).toBeGreaterThan(20);
  });

  it.each([
    ['user/{a}/todo/{b}', 'user/{a}/list/{b}', false],
    ['user/{a}', 'user/{a}/list', false],
    ['user/{a}-x', 'user/x-{a}', true],
    ['user/{a}-x', 'user/{a}-y', false],
    ['user/me', 'user/{a}', true],
  ])('overlap for %s and %s: %s', (one, other, expected) => {
    const [a, b] = [one, other].map((text) => {
      const pattern = text.includes('{')
        ? patternOf({ key: [], template: text })
        : { texts: [text], columns: [], isRaw: false };
      return { prefix: '', pattern };
    }) as [Keys, Keys];
    expect(canOverlap(a, b)).toBe(expected);
  });
});

it('different rows of a view have different keys', () => {
  const value = fc.string({ unit: fc.constantFrom('a', '/', '%', '2', 'F', '5', '-'), maxLength: 4 });
  fc.assert(
    fc.property(
      keys,
      fc.array(value, { minLength: 3, maxLength: 3 }),
      fc.array(value, { minLength: 3, maxLength: 3 }),
      (one, a, b) => {
        const n = one.pattern.columns.length;
        const isSame = a.slice(0, n).join('\0') === b.slice(0, n).join('\0');
        expect(keyOf(one, a) === keyOf(one, b)).toBe(isSame);
        expect(readKey(one.pattern, keyOf({ ...one, prefix: '' }, a))).toEqual(a.slice(0, n));
      },
    ),
    { seed: 2, numRuns: 3000 },
  );
});

describe('the row', () => {
  const values = (key: string, of: string, time?: string) => {
    const pattern = patternOf(isTemplate(key) ? { key: [], template: key } : { key: [key] });
    const columns = [...new Set(pattern.columns)];
    return keyValues({ pattern, columns, utcColumns: new Set(time === undefined ? [] : [time]) }, of);
  };

  it.each([
    ['id', "a/b%2F'", [`'a/b%2F'''`]],
    ['todo/{id}', 'todo/a%2Fb%25', [`'a/b%'`]],
    ['a-{x}-b/{y}', 'a-1-b/', [`'1'`, `''`]],
    ['{x}/{y}/{x}', '1/2/3', [`'1'`, `'2'`]],
    ['x/{id}', 'x/%252F', [`'%2F'`]],
  ])('of the pattern %s and the key %s is found by %s', (key, of, expected) => {
    expect(values(key, of)).toEqual(expected);
  });

  it.each([
    ['todo/{id}', 'todo'],
    ['todo/{id}', 'todo/1/'],
    ['todo/{id}', 'list/1'],
    ['ab{id}ba', 'aba'],
    ['{x}/{y}', '1'],
  ])('of the pattern %s does not exist for the key %s', (key, of) => {
    expect(values(key, of)).toBeUndefined();
  });

  it('with a key that contains a time is found by the time in UTC, even if the key has no time zone', () => {
    expect(values('{at}/{id}', '0044-03-15T12:00:00 BC/1', 'at')).toEqual([
      `'0044-03-15T12:00:00 BC'::timestamp at time zone 'UTC'`,
      `'1'`,
    ]);
  });
});
