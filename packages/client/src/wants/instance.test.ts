import { expect, it } from 'vitest';
import { instanceText, wantOf } from './instance.js';

it.each<[one: unknown, other: unknown]>([
  [
    { a: 1, b: { c: 2, d: [3, { e: 4, f: 5 }] } },
    { b: { d: [3, { f: 5, e: 4 }], c: 2 }, a: 1 },
  ],
  [
    { 10: 'x', 9: 'y', b: 1 },
    { b: 1, 9: 'y', 10: 'x' },
  ],
  [{ a: 1, b: undefined }, { a: 1 }],
  [{ a: new Date(0) }, { a: '1970-01-01T00:00:00.000Z' }],
])('%j and %j identify one instance', (one, other) => {
  expect(instanceText('issue', one)).toBe(instanceText('issue', other));
});

it.each<[one: unknown, other: unknown]>([
  [{ a: 7 }, { a: '7' }],
  [{ a: null }, {}],
  [{ a: [1, 2] }, { a: [2, 1] }],
])('%j and %j identify two instances', (one, other) => {
  expect(instanceText('issue', one)).not.toBe(instanceText('issue', other));
  expect(instanceText('issue', one)).not.toBe(instanceText('task', one));
});

it('a text names its instance', () => {
  expect(wantOf(instanceText('issue', { b: 'x"', a: 7 }))).toEqual({ view: 'issue', args: { a: 7, b: 'x"' } });
});
