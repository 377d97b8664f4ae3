/** How a process with tenants shuts down, or hands over to another process. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTenants } from '../../../packages/tidemark/src/tenants.js';
import type { TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { createTenantDatabase, opened, pull, requestTo, tenantOf } from './tenanted.js';

const names = ['acme', 'blau'];
let databases: TestDatabase[];
beforeAll(async () => {
  databases = [];
  for (const _ of names) databases.push(await createTenantDatabase());
});
afterAll(() => Promise.all(databases.map((database) => database.drop())));

type RunningTenants = Awaited<ReturnType<typeof startTenants>>;

const start = () =>
  startTenants({ tenantOf, open: (name) => opened(databases[names.indexOf(name)]!.url), log: silent });
const listen = (tenants: RunningTenants, tenant: string) =>
  tenants.fetch(requestTo('/sync/poke?clientGroupID=g&profileID=p', { tenant, method: 'GET' }));
const readiness = async (tenants: RunningTenants) =>
  (await tenants.fetch(requestTo('/readyz', { method: 'GET' }))).status;
const connectionsTo = async ({ pool }: TestDatabase) =>
  (
    await pool.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'tidemark'`,
    )
  ).rowCount;

it.each([
  ['drain', 503],
  ['endStreams', 200],
] as const)('%s ends all streams, also of tenants opened later, and pulls work until close', async (end, ready) => {
  const tenants = await start();
  const open = await listen(tenants, 'acme');
  tenants[end]();
  expect(await readiness(tenants)).toBe(ready);
  for (const tenant of names) {
    expect((await pull(tenants, tenant)).status).toBe(200);
    expect((await listen(tenants, tenant)).status).toBe(503);
  }
  expect(await open.text()).toContain('data:');
  await tenants.close();
  for (const database of databases) await vi.waitFor(async () => expect(await connectionsTo(database)).toBe(0));
  expect((await pull(tenants, 'acme')).status).toBe(503);
});
