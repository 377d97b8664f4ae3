import { expect, it } from 'vitest';
import { dueForUpkeep } from '../../src/tenants/upkeep.js';

const minute = 60_000;

it('does the upkeep of those that have been used for a minute without any, the most neglected first', () => {
  const since = { a: 2_000, b: 1_000, c: 3_001, d: undefined };
  const residents = Object.entries(since).map(([name, neglectedSince]) => ({ name, neglectedSince }));
  const due = (now: number) => dueForUpkeep(residents, now).map(({ name }) => name);
  expect(due(minute)).toEqual([]);
  expect(due(minute + 1_000)).toEqual(['b']);
  expect(due(minute + 3_000)).toEqual(['b']);
});

it('never does that of all at once, and of each about once a minute', () => {
  const residents = Array.from({ length: 300 }, () => ({ neglectedSince: 0, times: 0 }));
  let most = 0;
  for (let now = minute; now <= 10 * minute; now += 1_000) {
    const due = dueForUpkeep(residents, now);
    most = Math.max(most, due.length);
    for (const one of due) Object.assign(one, { neglectedSince: now, times: one.times + 1 });
  }
  expect(most).toBe(5);
  for (const { times } of residents) expect(times).toBeGreaterThanOrEqual(9);
});
