import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Credentials } from './credentials.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a getAuth that never resolves delays a request by at most a minute', async () => {
  const error = vi.fn();
  const holder = { auth: '' };
  const credentials = new Credentials(holder, () => new Promise(() => {}), { error });
  const got = credentials.get();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await got).toBe('');
  expect(error).toHaveBeenCalledWith('getAuth failed', expect.objectContaining({ name: 'TimeoutError' }));
});
