import { expect, it } from 'vitest';
import { findInexactNumber } from './json.js';

// In quadratic time, each of these would take hours.
it.each<[what: string, text: string, offset: number | undefined]>([
  ['backslashes in strings', `[${'"\\\\",'.repeat(2_000_000)}1e3]`, undefined],
  ['quotes in a string', `["${'\\"'.repeat(4_000_000)}",1e3]`, undefined],
  ['numbers', `[${'1e3,'.repeat(1_000_000)}1e3]`, undefined],
  ['zeros', `[1${'0'.repeat(8_000_000)}]`, 1],
  ['digits', `[0.${'1'.repeat(8_000_000)}]`, 1],
  ['zeros between digits', `[0.${'10'.repeat(4_000_000)}1]`, 1],
])('findInexactNumber reads millions of %s in linear time', (_, text, offset) => {
  expect(findInexactNumber(text)).toBe(offset);
});
