import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { ConcurrencyShares } from './concurrency-shares.js';
import { FloodLimiter } from './flood-limiter.js';
import { TenantLimiter } from './tenant-limiter.js';

/** Creates work that runs until the test ends it. */
function openWork() {
  const ends: (() => void)[] = [];
  return { ends, work: () => new Promise<void>((resolve) => ends.push(resolve)) };
}

/** Creates a tenant's limiter, by default with a flood limiter of its own. */
function limiterOf(tenant: string, floodLimiter = new FloodLimiter()): TenantLimiter {
  return new TenantLimiter(tenant, floodLimiter, new ConcurrencyShares(floodLimiter));
}

const never = () => new AbortController().signal;

it('runs a few requests at the same time, and all others after them', async () => {
  const limiter = limiterOf('a');
  const { ends, work } = openWork();
  const all = Promise.all(Array.from({ length: 20 }, () => limiter.run(work, never)));
  await vi.waitFor(() => expect(ends.length).toBe(4));
  for (let done = 0; done < 20; done++) {
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(done));
    ends[done]!();
  }
  await all;
});

it('does not wait for requests that are blocked', async () => {
  const limiter = limiterOf('a');
  const stuck = openWork();
  const blocked = Array.from({ length: 4 }, () => limiter.run(stuck.work, never));
  expect(await limiter.run(async () => 'done', never)).toBe('done');
  expect(stuck.ends.length).toBe(4);
  for (const end of stuck.ends) end();
  await Promise.all(blocked);
});

it.each([
  ['limits concurrency while another tenant is active', true, 5, true],
  ['does not limit the concurrency of the only active tenant', false, 5, false],
  ['does not limit concurrency while no request waits', true, 4, false],
])('%s', async (_, hasOtherTenants, requests, isLimited) => {
  const floodLimiter = new FloodLimiter();
  const ended = vi.spyOn(floodLimiter, 'cooldownMs');
  const limiter = limiterOf('a', floodLimiter);
  if (hasOtherTenants) floodLimiter.recordArrival('b', performance.now());
  const { ends, work } = openWork();
  const all = Promise.all(Array.from({ length: requests }, () => limiter.run(work, never)));
  await vi.waitFor(() => expect(ends.length).toBe(4));
  for (let done = 0; done < requests; done++) {
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(done));
    ends[done]!();
  }
  await all;
  expect(ended.mock.calls.length > 0).toBe(isLimited);
});

it('immediately refuses requests that would wait too long, and says when to retry', async () => {
  const limiter = limiterOf('a');
  const { ends, work } = openWork();
  const running = Array.from({ length: 1_004 }, () => limiter.run(work, never));
  const refused = await limiter.run(work, never).catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 503, headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } });
  while (ends.length < 1_004) {
    for (const end of ends) end();
    await setImmediate();
  }
  for (const end of ends) end();
  await Promise.all(running);
});

it('drops a waiting request whose client disconnects', async () => {
  const limiter = limiterOf('a');
  const { ends, work } = openWork();
  const running = Array.from({ length: 4 }, () => limiter.run(work, never));
  const aborted = new AbortController();
  const waiting = limiter.run(work, () => aborted.signal);
  aborted.abort();
  await expect(waiting).rejects.toThrow('went away');
  expect(ends.length).toBe(4);
  for (const end of ends) end();
  await Promise.all(running);
});
