import { expect, it } from 'vitest';
import { silent } from '../../test/support/log.js';
import type { StartedSync } from '../server.js';
import { Company } from './company.js';
import { Tenant } from './tenant.js';
import { Turns } from './turns.js';
import { dueForUpkeep } from './upkeep.js';

const minute = 60_000;

it('does the upkeep of those that have been used for a minute without any, the most neglected first', () => {
  const since = { a: 2_000, b: 1_000, c: 3_001, d: undefined };
  const residents = Object.entries(since).map(([name, neglectedSince]) => ({ name, neglectedSince }));
  const due = (now: number) => dueForUpkeep(residents, now).map(({ one }) => one.name);
  expect(due(minute)).toEqual([]);
  expect(due(minute + 1_000)).toEqual(['b']);
  expect(due(minute + 3_000)).toEqual(['b']);
});

it('never does that of several at the same moment, and of each about once a minute', () => {
  const residents = Array.from({ length: 300 }, () => ({ neglectedSince: 0, times: 0 }));
  let most = 0;
  for (let now = minute; now <= 10 * minute; now += 1_000) {
    const due = dueForUpkeep(residents, now);
    most = Math.max(most, due.length);
    expect(due.map(({ inMs }) => inMs)).toEqual([0, 200, 400, 600, 800].slice(0, due.length));
    for (const { one } of due) Object.assign(one, { neglectedSince: now, times: one.times + 1 });
  }
  expect(most).toBe(5);
  for (const { times } of residents) expect(times).toBeGreaterThanOrEqual(9);
});

it('a tenant has no more upkeep than use', async () => {
  let times = 0;
  const sync = {
    ready: async () => {},
    keepUp: async () => times++,
    sources: { streams: { used: 0 } },
  } as unknown as StartedSync;
  const company = new Company();
  const tenant = new Tenant('acme', {
    start: async () => sync,
    log: silent,
    company,
    turns: new Turns(company),
    endAsToldTo() {},
  });
  await tenant.keepUp();
  expect([tenant.neglectedSince, times]).toEqual([undefined, 0]);
  for (let used = 1; used <= 2; used++) {
    await tenant.use(async () => {});
    expect(tenant.neglectedSince).toBeDefined();
    for (let i = 0; i < 3; i++) await tenant.keepUp();
    expect([tenant.neglectedSince, times]).toEqual([undefined, used]);
  }
});
