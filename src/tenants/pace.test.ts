import { setImmediate } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { Company } from './company.js';
import { Pace } from './pace.js';
import { Turns } from './turns.js';

/** Work that goes on until it is told to end. */
function openWork() {
  const ends: (() => void)[] = [];
  return { ends, work: () => new Promise<void>((resolve) => ends.push(resolve)) };
}

/** The pace of a tenant, in a house of its own. */
function paceOf(tenant: string, company = new Company()): Pace {
  return new Pace(tenant, company, new Turns(company));
}

const never = () => new AbortController().signal;

it('works on a few requests at once, and on all others after them', async () => {
  const pace = paceOf('a');
  const { ends, work } = openWork();
  const all = Promise.all(Array.from({ length: 20 }, () => pace.run(work, never)));
  await vi.waitFor(() => expect(ends.length).toBe(4));
  for (let done = 0; done < 20; done++) {
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(done));
    ends[done]!();
  }
  await all;
});

it('does not wait for what holds a request up', async () => {
  const pace = paceOf('a');
  const stuck = openWork();
  const held = Array.from({ length: 4 }, () => pace.run(stuck.work, never));
  expect(await pace.run(async () => 'done', never)).toBe('done');
  expect(stuck.ends.length).toBe(4);
  for (const end of stuck.ends) end();
  await Promise.all(held);
});

it.each([
  ['only while there are others', true, 5, true],
  ['but not when it is alone', false, 5, false],
  ['and not when no more requests wait', true, 4, false],
])('has requests take turns, %s', async (_, hasOthers, requests, takesTurns) => {
  const company = new Company();
  const ended = vi.spyOn(company, 'restMs');
  const pace = paceOf('a', company);
  if (hasOthers) company.note('b', performance.now());
  const { ends, work } = openWork();
  const all = Promise.all(Array.from({ length: requests }, () => pace.run(work, never)));
  await vi.waitFor(() => expect(ends.length).toBe(4));
  for (let done = 0; done < requests; done++) {
    await vi.waitFor(() => expect(ends.length).toBeGreaterThan(done));
    ends[done]!();
  }
  await all;
  expect(ended.mock.calls.length > 0).toBe(takesTurns);
});

it('refuses at once those who would have to wait too long, and says when to come back', async () => {
  const pace = paceOf('a');
  const { ends, work } = openWork();
  const running = Array.from({ length: 1_004 }, () => pace.run(work, never));
  const refused = await pace.run(work, never).catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 503, headers: { 'Retry-After': expect.stringMatching(/^\d+$/) } });
  while (ends.length < 1_004) {
    for (const end of ends) end();
    await setImmediate();
  }
  for (const end of ends) end();
  await Promise.all(running);
});

it('forgets a request whose client goes away while it waits', async () => {
  const pace = paceOf('a');
  const { ends, work } = openWork();
  const running = Array.from({ length: 4 }, () => pace.run(work, never));
  const gone = new AbortController();
  const waiting = pace.run(work, () => gone.signal);
  gone.abort();
  await expect(waiting).rejects.toThrow('went away');
  expect(ends.length).toBe(4);
  for (const end of ends) end();
  await Promise.all(running);
});
