import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { Company } from './company.js';
import { type EndTurn, Turns } from './turns.js';

/** So many take a turn, of which so many may be served at once. */
function queue(count: number, turns: number) {
  const company = new Company();
  const allowed = vi.spyOn(company, 'turns', 'get').mockReturnValue(turns);
  const rested = vi.spyOn(company, 'restMs').mockReturnValue(0);
  const all = new Turns(company);
  const ends: EndTurn[] = [];
  for (let i = 0; i < count; i++) void all.take().then((end) => ends.push(end));
  return { allowed, rested, ends };
}

const settled = () => sleep(20);

it('so many are served at once as the others can bear, and all others in turn', async () => {
  const { ends } = queue(20, 3);
  for (let ended = 0; ended < 20; ended++) {
    await settled();
    expect(ends.length).toBe(Math.min(ended + 3, 20));
    ends[ended]!(1);
  }
});

it('that changes while they wait', async () => {
  const { allowed, ends } = queue(20, 4);
  await settled();
  allowed.mockReturnValue(1);
  for (let ended = 0; ended < 3; ended++) ends[ended]!(1);
  await settled();
  expect(ends.length).toBe(4);
  ends[3]!(1);
  await settled();
  expect(ends.length).toBe(5);
  allowed.mockReturnValue(6);
  ends[4]!(1);
  await settled();
  expect(ends.length).toBe(11);
});

it('a turn rests before it is given to the next', async () => {
  const { rested, ends } = queue(2, 1);
  await settled();
  rested.mockReturnValue(200);
  const began = performance.now();
  ends[0]!(7);
  expect(rested).toHaveBeenCalledWith(7, expect.any(Number));
  await vi.waitFor(() => expect(ends.length).toBe(2));
  expect(performance.now() - began).toBeGreaterThan(195);
});
