import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PerTickLimiter } from './per-tick-limiter.js';

/** Records the requests that have started. */
function setUp() {
  const limiter = new PerTickLimiter();
  const started: string[] = [];
  const request = (userID: string, count: number, from = 0) => {
    for (let i = from; i < from + count; i++) limiter.begin(userID).then(() => started.push(`${userID} ${i}`));
  };
  const countOf = (userID: string) => started.filter((one) => one.startsWith(userID)).length;
  return { request, started, countOf };
}

it('starts a few requests immediately', async () => {
  const { request, countOf } = setUp();
  request('ann', 32);
  await Promise.resolve();
  expect(countOf('ann')).toBe(32);
});

it('starts some of many requests in each turn of the event loop until all have started', async () => {
  const { request, countOf } = setUp();
  request('ann', 100);
  const counts: number[] = [];
  for (let tick = 0; tick < 5; tick++) {
    await nextTurn();
    counts.push(countOf('ann'));
  }
  expect(counts[0]).toBeLessThanOrEqual(64);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(counts.at(-1)).toBe(100);
});

it('does not delay the requests of another user', async () => {
  const { request, countOf } = setUp();
  request('ann', 1_000);
  request('bob', 1);
  await Promise.resolve();
  expect(countOf('bob')).toBe(1);
  await nextTurn();
  request('bob', 32, 1);
  await Promise.resolve();
  expect(countOf('bob')).toBe(33);
  expect(countOf('ann')).toBeLessThanOrEqual(64);
});

it('starts the requests of a user in order, including those that arrive while others wait', async () => {
  const { request, started } = setUp();
  request('ann', 100);
  await nextTurn();
  request('ann', 100, 100);
  for (let tick = 0; tick < 7; tick++) await nextTurn();
  expect(started).toEqual(Array.from({ length: 200 }, (_, i) => `ann ${i}`));
});

it('starts a few requests immediately again after the earlier ones have started', async () => {
  const { request, countOf } = setUp();
  request('ann', 100);
  for (let tick = 0; tick < 6; tick++) await nextTurn();
  request('ann', 32, 100);
  await Promise.resolve();
  expect(countOf('ann')).toBe(132);
});
