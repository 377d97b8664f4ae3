import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Nudges } from './nudges.js';

const nudged: number[] = [];
let nudges: Nudges;

beforeEach(() => {
  vi.useFakeTimers();
  nudged.length = 0;
  nudges = new Nudges(() => [{ nudge: (committedAt) => nudged.push(committedAt) }]);
});
afterEach(() => {
  nudges.close();
  vi.useRealTimers();
});

it('after a commit, standbys are looked at until they can be expected to show it', () => {
  const at = performance.now();
  nudges.nudge();
  expect(nudged).toEqual([at]);
  vi.advanceTimersByTime(60);
  expect(nudged.length).toBe(6);
  vi.advanceTimersByTime(10_000);
  expect(nudged).toEqual(new Array(7).fill(at));
});

it('a commit in the meantime begins this anew', () => {
  nudges.nudge();
  vi.advanceTimersByTime(60);
  nudged.length = 0;
  const at = performance.now();
  nudges.nudge();
  expect(nudged).toEqual([at]);
  vi.advanceTimersByTime(10_000);
  expect(nudged).toEqual(new Array(7).fill(at));
});

it('many commits do not make more looks than one every two milliseconds', () => {
  for (let i = 0; i < 1000; i++) {
    nudges.nudge();
    vi.advanceTimersByTime(1);
  }
  expect(nudged.length).toBeGreaterThan(300);
  expect(nudged.length).toBeLessThan(550);
});
