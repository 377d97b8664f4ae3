import { expect, it } from 'vitest';
import { silent } from '../../../../test/support/log.js';
import type { StartedSync } from '../server.js';
import { Tenant } from './tenant.js';
import { dueForUpkeep } from './upkeep.js';

const minute = 60_000;

it('upkeep is due for tenants that were used for a minute without any, the most neglected first', () => {
  const since = { a: 2_000, b: 1_000, c: 3_001, d: undefined };
  const openTenants = Object.entries(since).map(([name, neglectedSince]) => ({ name, neglectedSince }));
  const due = (now: number) => dueForUpkeep(openTenants, now).map(({ tenant }) => tenant.name);
  expect(due(minute)).toEqual([]);
  expect(due(minute + 1_000)).toEqual(['b']);
  expect(due(minute + 3_000)).toEqual(['b']);
});

it('upkeep is due at different times for different tenants, about once a minute for each', () => {
  const openTenants = Array.from({ length: 300 }, () => ({ neglectedSince: 0, times: 0 }));
  let maxDue = 0;
  for (let now = minute; now <= 10 * minute; now += 1_000) {
    const due = dueForUpkeep(openTenants, now);
    maxDue = Math.max(maxDue, due.length);
    expect(due.map(({ inMs }) => inMs)).toEqual([0, 200, 400, 600, 800].slice(0, due.length));
    for (const { tenant } of due) Object.assign(tenant, { neglectedSince: now, times: tenant.times + 1 });
  }
  expect(maxDue).toBe(5);
  for (const { times } of openTenants) expect(times).toBeGreaterThanOrEqual(9);
});

it('upkeep runs for a tenant only after it has been used', async () => {
  let times = 0;
  const sync = {
    ready: async () => {},
    runUpkeep: async () => times++,
    gaugeSources: { admission: { streams: { used: 0 } } },
  } as unknown as StartedSync;
  const tenant = new Tenant('acme', {
    owner: { start: async () => sync, applyShutdown() {} },
    log: silent,
  });
  await tenant.runUpkeep();
  expect([tenant.neglectedSince, times]).toEqual([undefined, 0]);
  for (let used = 1; used <= 2; used++) {
    await tenant.use(async () => {});
    expect(tenant.neglectedSince).toBeDefined();
    for (let i = 0; i < 3; i++) await tenant.runUpkeep();
    expect([tenant.neglectedSince, times]).toEqual([undefined, used]);
  }
});
