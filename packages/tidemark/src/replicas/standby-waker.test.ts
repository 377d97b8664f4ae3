import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StandbyWaker } from './standby-waker.js';

const wakes: number[] = [];
let waker: StandbyWaker;

beforeEach(() => {
  vi.useFakeTimers();
  wakes.length = 0;
  waker = new StandbyWaker(() => [{ wake: (committedAt) => wakes.push(committedAt) }]);
});
afterEach(() => {
  waker.close();
  vi.useRealTimers();
});

it('wakes standbys after a commit until they can be expected to show it', () => {
  const at = performance.now();
  waker.wake();
  expect(wakes).toEqual([at]);
  vi.advanceTimersByTime(60);
  expect(wakes.length).toBe(6);
  vi.advanceTimersByTime(10_000);
  expect(wakes).toEqual(new Array(7).fill(at));
});

it('starts again after another commit', () => {
  waker.wake();
  vi.advanceTimersByTime(60);
  wakes.length = 0;
  const at = performance.now();
  waker.wake();
  expect(wakes).toEqual([at]);
  vi.advanceTimersByTime(10_000);
  expect(wakes).toEqual(new Array(7).fill(at));
});

it('wakes standbys at most every two milliseconds during many commits', () => {
  for (let i = 0; i < 1000; i++) {
    waker.wake();
    vi.advanceTimersByTime(1);
  }
  expect(wakes.length).toBeGreaterThan(300);
  expect(wakes.length).toBeLessThan(550);
});
