import { expect, it } from 'vitest';
import { Attempts } from '../../src/tenants/attempts.js';

it('may be tried at once before anything has failed', () => {
  expect(new Attempts().waitMs(0)).toBe(0);
});

it('is tried ever more rarely while it fails, and at least every half minute', () => {
  const attempts = new Attempts();
  const pauses = Array.from({ length: 8 }, (_, i) => {
    attempts.fail(i * 60_000);
    return attempts.waitMs(i * 60_000);
  });
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
});

it('may be tried when the pause is over', () => {
  const attempts = new Attempts();
  attempts.fail(100);
  expect([100, 600, 1_099, 1_100, 5_000].map((now) => attempts.waitMs(now))).toEqual([1_000, 500, 1, 0, 0]);
});

it('begins anew after a success', () => {
  const attempts = new Attempts();
  for (const now of [0, 1, 2]) attempts.fail(now);
  attempts.succeed();
  expect(attempts.waitMs(3)).toBe(0);
  attempts.fail(3);
  expect(attempts.waitMs(3)).toBe(1_000);
});

it('does not count what fails for a reason that has its own pause', () => {
  const attempts = new Attempts();
  for (const now of [0, 0, 0]) attempts.fail(now, 5_000);
  expect(attempts.waitMs(0)).toBe(5_000);
  attempts.fail(0);
  expect(attempts.waitMs(0)).toBe(1_000);
});
