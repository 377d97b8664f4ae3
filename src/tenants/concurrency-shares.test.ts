import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { ConcurrencyShares, type ReleaseShare } from './concurrency-shares.js';
import { FloodLimiter } from './flood-limiter.js';

/** Lets `count` requests acquire a share, with at most `maxConcurrency` served concurrently. */
function queue(count: number, maxConcurrency: number) {
  const floodLimiter = new FloodLimiter();
  const concurrency = vi.spyOn(floodLimiter, 'maxConcurrency', 'get').mockReturnValue(maxConcurrency);
  const cooldown = vi.spyOn(floodLimiter, 'cooldownMs').mockReturnValue(0);
  const shares = new ConcurrencyShares(floodLimiter);
  const ends: ReleaseShare[] = [];
  for (let i = 0; i < count; i++) void shares.acquire().then((end) => ends.push(end));
  return { concurrency, cooldown, ends };
}

const waitAWhile = () => sleep(20);

it('serves requests up to the maximum concurrency, and the others in order', async () => {
  const { ends } = queue(20, 3);
  for (let ended = 0; ended < 20; ended++) {
    await waitAWhile();
    expect(ends.length).toBe(Math.min(ended + 3, 20));
    ends[ended]!(1);
  }
});

it('applies a changed maximum to waiting requests', async () => {
  const { concurrency, ends } = queue(20, 4);
  await waitAWhile();
  concurrency.mockReturnValue(1);
  for (let ended = 0; ended < 3; ended++) ends[ended]!(1);
  await waitAWhile();
  expect(ends.length).toBe(4);
  ends[3]!(1);
  await waitAWhile();
  expect(ends.length).toBe(5);
  concurrency.mockReturnValue(6);
  ends[4]!(1);
  await waitAWhile();
  expect(ends.length).toBe(11);
});

it('waits for the cooldown before it passes on a share', async () => {
  const { cooldown, ends } = queue(2, 1);
  await waitAWhile();
  cooldown.mockReturnValue(200);
  const began = performance.now();
  ends[0]!(7);
  expect(cooldown).toHaveBeenCalledWith(7, expect.any(Number));
  await vi.waitFor(() => expect(ends.length).toBe(2));
  expect(performance.now() - began).toBeGreaterThan(195);
});
