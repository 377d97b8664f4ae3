import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Saving } from './saving.js';
import { StatusTracker } from './status.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('saving is retried at least every 30 seconds until it succeeds', async () => {
  const status = new StatusTracker();
  const times = [Date.now()];
  let isFull = true;
  const persist = async () => {
    times.push(Date.now());
    if (isFull) throw new DOMException('Full', 'QuotaExceededError');
  };
  const saving: Saving = new Saving(status, () => saving.save(persist));
  saving.changed();
  await vi.advanceTimersByTimeAsync(5 * 60_000);
  times.push(Date.now());
  const pauses = times.slice(1).map((time, i) => time - times[i]!);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
  expect(status.observable.get()).toMatchObject({ storage: 'failing', storageError: { code: 'storage-full' } });

  isFull = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(status.observable.get()).toMatchObject({ storage: 'saved', storageError: null });
});
