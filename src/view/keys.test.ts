/** Whether keys of two views can meet is decided exactly, and no two rows of a view share a key. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyValues } from './keys/key-sql.js';
import { canMeet, describeKeys, isTemplate, type Keys, patternOf, readKey } from './keys/patterns.js';

const escaped = (text: string) => text.replaceAll('%', '%25').replaceAll('/', '%2F');

function keyOf({ prefix, pattern: { texts, columns, isRaw } }: Keys, values: readonly string[]): string {
  const parts = columns.map((_, i) => `${isRaw ? values[i] : escaped(values[i]!)}${texts[i + 1]}`);
  return `${prefix}${texts[0]}${parts.join('')}`;
}

const some = (least: number, most: number, letters = 'ab/') =>
  fc.array(fc.constantFrom(...letters), { minLength: least, maxLength: most }).map((list) => list.join(''));
const template = fc
  .tuple(some(0, 2), fc.array(fc.tuple(some(0, 1, 'ab'), some(0, 1, 'ab')), { maxLength: 1 }), some(0, 2))
  .map(([head, between, tail]) => {
    const columns = [...between.map(([one, other], i) => `{c${i}}${one}/${other}`), `{c${between.length}}`];
    return `${head}${columns.join('')}${tail}`;
  });
const keys: fc.Arbitrary<Keys> = fc.oneof(
  fc.record({ prefix: some(0, 2), pattern: template.map((text) => patternOf({ key: [], template: text })) }),
  fc.record({
    prefix: some(0, 2),
    pattern: fc.integer({ min: 1, max: 2 }).map((n) => patternOf({ key: ['c0', 'c1'].slice(0, n) })),
  }),
);

/** What the columns of one view must hold where its keys are to look like those of another. */
function valuesAfter({ prefix, pattern }: Keys): string[] {
  const fixed = `${prefix}${pattern.texts.join('')}`;
  const places = [...fixed, ''].map((_, i) => i);
  const parts = new Set(places.flatMap((from) => places.map((to) => fixed.slice(from, to))));
  return [...parts].flatMap((part) => ['', 'a', 'b'].map((end) => `${part}${end}`));
}

function looksLike({ prefix, pattern: { texts, isRaw } }: Keys, key: string): boolean {
  return new RegExp(`^${prefix}${texts.join(isRaw ? '.*' : '[^/]*')}$`).test(key);
}

/** Some key of one view is one of the other. */
function meet(one: Keys, other: Keys): boolean {
  const { columns, isRaw } = other.pattern;
  const values = [...new Set(valuesAfter(one))].filter((text) => isRaw || !text.includes('/'));
  return values.some((a) => (columns.length > 1 ? values : ['']).some((b) => looksLike(one, keyOf(other, [a, b]))));
}

describe('keys of two views', () => {
  it('never meet where they are said not to, and do where they are', () => {
    const met = { yes: 0, no: 0 };
    fc.assert(
      fc.property(keys, keys, (one, other) => {
        const doMeet = meet(one, other);
        met[doMeet ? 'yes' : 'no']++;
        expect(canMeet(one, other), `${describeKeys(one)} and ${describeKeys(other)}`).toBe(doMeet);
        expect(canMeet(other, one)).toBe(canMeet(one, other));
      }),
      { seed: 1, numRuns: 1000 },
    );
    expect(Math.min(met.yes, met.no)).toBeGreaterThan(20);
  });

  it.each([
    ['user/{a}/todo/{b}', 'user/{a}/list/{b}', false],
    ['user/{a}', 'user/{a}/list', false],
    ['user/{a}-x', 'user/x-{a}', true],
    ['user/{a}-x', 'user/{a}-y', false],
    ['user/me', 'user/{a}', true],
  ])('%s and %s', (one, other, expected) => {
    const [a, b] = [one, other].map((text) => {
      const pattern = text.includes('{')
        ? patternOf({ key: [], template: text })
        : { texts: [text], columns: [], isRaw: false };
      return { prefix: '', pattern };
    }) as [Keys, Keys];
    expect(canMeet(a, b)).toBe(expected);
  });
});

it('rows of one view have keys of their own', () => {
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

describe('the row with a key', () => {
  const values = (key: string, of: string, time?: string) => {
    const pattern = patternOf(isTemplate(key) ? { key: [], template: key } : { key: [key] });
    return keyValues(pattern, of, [...new Set(pattern.columns)], (column) => column === time);
  };

  it.each([
    ['id', "a/b%2F'", [`'a/b%2F'''`]],
    ['todo/{id}', 'todo/a%2Fb%25', [`'a/b%'`]],
    ['a-{x}-b/{y}', 'a-1-b/', [`'1'`, `''`]],
    ['{x}/{y}/{x}', '1/2/3', [`'1'`, `'2'`]],
    ['x/{id}', 'x/%252F', [`'%2F'`]],
  ])('%s is found for %s by %s', (key, of, found) => {
    expect(values(key, of)).toEqual(found);
  });

  it.each([
    ['todo/{id}', 'todo'],
    ['todo/{id}', 'todo/1/'],
    ['todo/{id}', 'list/1'],
    ['ab{id}ba', 'aba'],
    ['{x}/{y}', '1'],
  ])('%s has none for %s', (key, of) => {
    expect(values(key, of)).toBeUndefined();
  });

  it('is found by the time in UTC, even where the text does not say so', () => {
    expect(values('{at}/{id}', '0044-03-15T12:00:00 BC/1', 'at')).toEqual([
      `'0044-03-15T12:00:00 BC'::timestamp at time zone 'UTC'`,
      `'1'`,
    ]);
  });
});
