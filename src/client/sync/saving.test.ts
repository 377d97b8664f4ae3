import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Saving } from './saving.js';
import { StatusTracker } from './status.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('what cannot be stored is tried again after at most 30 seconds, however often it has failed, until it is stored', async () => {
  const status = new StatusTracker();
  const moments = [Date.now()];
  let isFull = true;
  const persist = async () => {
    moments.push(Date.now());
    if (isFull) throw new DOMException('Full', 'QuotaExceededError');
  };
  const saving: Saving = new Saving(status, () => saving.save(persist));
  saving.changed();
  await vi.advanceTimersByTimeAsync(5 * 60_000);
  moments.push(Date.now());
  const pauses = moments.slice(1).map((moment, i) => moment - moments[i]!);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
  expect(status.observable.get()).toMatchObject({ storage: 'failing', storageError: { code: 'storage-full' } });

  isFull = false;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(status.observable.get()).toMatchObject({ storage: 'saved', storageError: null });
});
