/** Tenants whose databases are unreachable, hang, are locked, or are not set up as they must be. */
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { ChaosProxy } from '../../stress/torture/rig/proxy.js';
import { copyDatabase, type TestDatabase } from '../../support/database.js';
import { silent } from '../../support/log.js';
import { freePort } from '../../support/process.js';
import { createTenantDatabase, occupancy, opened, pull, startTenants, type Tenanted, views } from './tenanted.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTenantDatabase();
});
afterAll(() => database.drop());

let tenants: Tenanted;
afterEach(() => tenants.close());

const failures = () => tenants.lines.filter(({ message }) => message === 'A tenant cannot be opened');

it('an unreachable database is tried only occasionally, and other requests get a time to retry', async () => {
  const address = new URL(database.url);
  const proxy = await ChaosProxy.open(Number(address.port));
  address.port = new URL(proxy.url).port;
  const { target } = proxy;
  proxy.target = await freePort();
  const open = vi.fn(() => opened(address.href));
  tenants = await startTenants({}, { open });
  const answers = [];
  for (let i = 0; i < 50; i++) answers.push(await pull(tenants, 'away'));
  expect(open.mock.calls.length).toBeLessThanOrEqual(2);
  for (const { status, headers } of answers) {
    expect([status, headers.get('Content-Type')]).toEqual([503, 'application/problem+json']);
    expect(Number(headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
  }
  expect(await answers[0]!.json()).toMatchObject({ code: 'unavailable', degraded: ['database'] });
  expect(failures().length).toBe(open.mock.calls.length);
  proxy.target = target;
  await vi.waitFor(async () => expect((await pull(tenants, 'away')).status).toBe(200));
  expect(await occupancy(tenants)).toMatchObject({ open: 1, failing: 0 });
  await tenants.close();
  proxy.close();
});

it('requests that retry immediately are answered more and more slowly, at different times', async () => {
  const proxy = await ChaosProxy.open(Number(new URL(database.url).port));
  const address = Object.assign(new URL(database.url), { port: new URL(proxy.url).port });
  tenants = await startTenants({ open: address.href });
  expect((await pull(tenants, 'open')).status).toBe(200);
  proxy.target = await freePort();
  proxy.cut();
  const began = performance.now();
  const requests = Array.from({ length: 60 }, async () => {
    const { status } = await pull(tenants, 'open');
    return { status, afterMs: performance.now() - began };
  });
  const answers = await Promise.all(requests);
  expect(answers.map(({ status }) => status)).toEqual(Array(60).fill(503));
  // A timer may fire a millisecond early.
  const late = answers.map(({ afterMs }) => afterMs).filter((ms) => ms >= 999);
  expect(late.length).toBeGreaterThanOrEqual(40);
  expect(Math.max(...late) - Math.min(...late)).toBeGreaterThan(500);
  await tenants.close();
  proxy.close();
});

it('concurrent requests for a failing tenant share one attempt', async () => {
  const open = vi.fn(() => opened('postgres://nobody@127.0.0.1:1/none'));
  tenants = await startTenants({}, { open });
  const answers = await Promise.all(Array.from({ length: 100 }, () => pull(tenants, 'away')));
  expect(answers.every(({ status }) => status === 503)).toBe(true);
  expect(open).toHaveBeenCalledOnce();
});

it('an error of `open` is logged and hidden from callers', async () => {
  const open = () => {
    throw new Error('the directory has a secret');
  };
  tenants = await startTenants({}, { open });
  const answer = await pull(tenants, 'any');
  expect(answer.status).toBe(503);
  expect(await answer.text()).not.toContain('secret');
  expect(JSON.stringify(failures())).toContain('the directory has a secret');
});

it('only the tenant of a database with another version is refused, until it is migrated', async () => {
  const template = await createTenantDatabase();
  await template.pool.end();
  const old = await copyDatabase(template.url);
  await old.pool.query('drop schema tidemark cascade');
  tenants = await startTenants({ old: old.url, other: database.url });
  const refused = await pull(tenants, 'old');
  expect(await refused.json()).toMatchObject({ status: 503, degraded: ['setup'] });
  expect(JSON.stringify(failures())).toContain('Tidemark is not installed in this database. Run `tidemark migrate`');
  expect((await pull(tenants, 'other')).status).toBe(200);
  await migrate({ database: old.url, views, log: silent });
  await vi.waitFor(async () => expect((await pull(tenants, 'old')).status).toBe(200));

  // A newer Tidemark upgrades the database while the tenant is open.
  const later = `insert into tidemark.migration (version, file) values (9999, 'later.sql')`;
  await old.pool.query(later);
  await vi.waitFor(async () => expect((await pull(tenants, 'old')).status).toBe(503));
  expect((await pull(tenants, 'other')).status).toBe(200);
  await old.pool.query('delete from tidemark.migration where version = 9999');
  await vi.waitFor(async () => expect((await pull(tenants, 'old')).status).toBe(200));
  await tenants.close();
  await old.drop();
});

it('an `open` that never returns delays only requests for its tenant', async () => {
  const open = (tenant: string) => (tenant === 'hangs' ? new Promise<never>(() => {}) : opened(database.url));
  tenants = await startTenants({}, { open });
  let isAnswered = false;
  void pull(tenants, 'hangs').then(() => {
    isAnswered = true;
  });
  for (let i = 0; i < 10; i++) expect((await pull(tenants, 'other')).status).toBe(200);
  expect(isAnswered).toBe(false);
});
