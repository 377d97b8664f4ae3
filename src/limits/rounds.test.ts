import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Rounds } from './rounds.js';

/** Notes the names of those who may begin. */
function setUp() {
  const rounds = new Rounds();
  const begun: string[] = [];
  const come = (userID: string, count: number, from = 0) => {
    for (let i = from; i < from + count; i++) rounds.begin(userID).then(() => begun.push(`${userID} ${i}`));
  };
  const countOf = (userID: string) => begun.filter((one) => one.startsWith(userID)).length;
  return { come, begun, countOf };
}

it('a few requests begin at once', async () => {
  const { come, countOf } = setUp();
  come('ann', 32);
  await Promise.resolve();
  expect(countOf('ann')).toBe(32);
});

it('of many, some begin in each turn of the event loop, until all have', async () => {
  const { come, countOf } = setUp();
  come('ann', 100);
  const counts: number[] = [];
  for (let turn = 0; turn < 5; turn++) {
    await nextTurn();
    counts.push(countOf('ann'));
  }
  expect(counts[0]).toBeLessThanOrEqual(64);
  expect(counts).toEqual([...counts].sort((a, b) => a - b));
  expect(counts.at(-1)).toBe(100);
});

it('another user waits for none of those that wait', async () => {
  const { come, countOf } = setUp();
  come('ann', 1_000);
  come('bob', 1);
  await Promise.resolve();
  expect(countOf('bob')).toBe(1);
  await nextTurn();
  come('bob', 32, 1);
  await Promise.resolve();
  expect(countOf('bob')).toBe(33);
  expect(countOf('ann')).toBeLessThanOrEqual(64);
});

it("one user's begin in their order, also those that come while others wait", async () => {
  const { come, begun } = setUp();
  come('ann', 100);
  await nextTurn();
  come('ann', 100, 100);
  for (let turn = 0; turn < 7; turn++) await nextTurn();
  expect(begun).toEqual(Array.from({ length: 200 }, (_, i) => `ann ${i}`));
});

it('a turn later, as many begin at once as before', async () => {
  const { come, countOf } = setUp();
  come('ann', 100);
  for (let turn = 0; turn < 6; turn++) await nextTurn();
  come('ann', 32, 100);
  await Promise.resolve();
  expect(countOf('ann')).toBe(132);
});
