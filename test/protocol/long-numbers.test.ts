import { expect, test } from 'vitest';
import { findInexactNumber } from '../../src/protocol/numbers.js';

test('to look through 16 MB for numbers that a double cannot carry takes no longer than a moment', () => {
  const worst = [
    `[${'"\\\\",'.repeat(2_000_000)}1e3]`,
    `["${'\\"'.repeat(4_000_000)}",1e3]`,
    `[${'1e3,'.repeat(1_000_000)}1e3]`,
    `[1${'0'.repeat(8_000_000)}]`,
    `[0.${'1'.repeat(8_000_000)}]`,
  ];
  for (const text of worst) {
    const started = performance.now();
    findInexactNumber(text);
    expect(performance.now() - started).toBeLessThan(2_000);
  }
});
