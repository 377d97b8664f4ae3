import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { TenantLimiter } from './tenant-limiter.js';

/** Creates work that runs until the test ends it. */
function openWork() {
  const ends: (() => void)[] = [];
  return { ends, work: () => new Promise<void>((resolve) => ends.push(resolve)) };
}

/** Creates a request whose client stays connected. */
const connected = () => new AbortController();

it('runs a few requests at the same time, and all others after them', async () => {
  const limiter = new TenantLimiter();
  const { ends, work } = openWork();
  const all = Promise.all(Array.from({ length: 20 }, () => limiter.run(work, connected())));
  await vi.waitFor(() => expect(ends.length).toBe(4));
  for (let done = 0; done < 20; done++) {
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(done));
    ends[done]!();
  }
  await all;
});

it('does not wait for requests that are blocked', async () => {
  const limiter = new TenantLimiter();
  const stuck = openWork();
  const blocked = Array.from({ length: 4 }, () => limiter.run(stuck.work, connected()));
  expect(await limiter.run(async () => 'done', connected())).toBe('done');
  expect(stuck.ends.length).toBe(4);
  for (const end of stuck.ends) end();
  await Promise.all(blocked);
});

it('immediately refuses requests that would wait too long, and says when to retry', async () => {
  const limiter = new TenantLimiter();
  const { ends, work } = openWork();
  const running = Array.from({ length: 1_004 }, () => limiter.run(work, connected()));
  const refused = await limiter.run(work, connected()).catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 503, headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } });
  while (ends.length < 1_004) {
    for (const end of ends) end();
    await setImmediate();
  }
  for (const end of ends) end();
  await Promise.all(running);
});

it('drops a waiting request whose client disconnects', async () => {
  const limiter = new TenantLimiter();
  const { ends, work } = openWork();
  const running = Array.from({ length: 4 }, () => limiter.run(work, connected()));
  const aborted = new AbortController();
  const waiting = limiter.run(work, aborted);
  aborted.abort();
  await expect(waiting).rejects.toThrow('went away');
  expect(ends.length).toBe(4);
  for (const end of ends) end();
  await Promise.all(running);
});
