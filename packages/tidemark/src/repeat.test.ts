import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { repeat } from './repeat.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('starts work after each pause, and never while earlier work is in progress', async () => {
  const ends: (() => void)[] = [];
  const work = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
  const end = repeat(work, 100, () => {});
  await vi.advanceTimersByTimeAsync(99);
  expect(work).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).toHaveBeenCalledOnce();
  ends[0]!();
  await vi.advanceTimersByTimeAsync(100);
  expect(work).toHaveBeenCalledTimes(2);
  end();
  ends[1]!();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).toHaveBeenCalledTimes(2);
  expect(vi.getTimerCount()).toBe(0);
});

it('reports a failure, and repeats the work', async () => {
  const failed = vi.fn();
  const end = repeat(() => Promise.reject(new Error('no')), 100, failed);
  await vi.advanceTimersByTimeAsync(300);
  expect(failed).toHaveBeenCalledTimes(3);
  end();
});
