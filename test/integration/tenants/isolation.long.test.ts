/** Nothing that happens to one tenant, or that it does, affects another. The tests count, and do not measure time. */
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { ChaosProxy } from '../../stress/torture/rig/proxy.js';
import { copyDatabase, type TestDatabase, untilWaiting } from '../../support/database.js';
import { createTenantDatabase, occupancy, pull, push, startTenants, type Tenanted } from './tenanted.js';

const count = 12;
/** Fewer than all tenants would take, so that they take turns. */
const connections = 12;
const rounds = 3;
let template: TestDatabase;
let databases: TestDatabase[];
beforeAll(async () => {
  template = await createTenantDatabase();
  await template.pool.end();
  databases = [];
  for (let i = 0; i < count; i++) databases.push(await copyDatabase(template.url));
});
afterAll(async () => {
  for (const database of databases) await database.drop();
});

const nameOf = (i: number) => `tenant ${i}`;
const others = Array.from({ length: count - 1 }, (_, i) => nameOf(i + 1));
const victim = nameOf(0);

let proxy: ChaosProxy;
let tenants: Tenanted;
/** The number of requests of each other tenant so far. */
let pushed: number;
beforeEach(async () => {
  const urls = Object.fromEntries(databases.map(({ url }, i) => [nameOf(i), url]));
  const address = new URL(urls[victim]!);
  proxy = await ChaosProxy.open(Number(address.port));
  address.port = new URL(proxy.url).port;
  tenants = await startTenants({ ...urls, [victim]: address.href }, { connections });
  pushed ??= 0;
});
afterEach(async () => {
  proxy.close();
  await tenants.close();
});

/** Makes each other tenant write, and read what it has written. */
async function othersWork(): Promise<number[]> {
  const statuses: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const mutationID = ++pushed;
    const work = others.map(async (name) => {
      const note = { id: `n${mutationID}`, body: name };
      statuses.push((await push(tenants, name, note, { mutationID })).status);
      const answer = await pull(tenants, name);
      statuses.push(answer.status);
      expect(await answer.text()).toContain(`"n${mutationID}"`);
    });
    await Promise.all(work);
  }
  return statuses;
}

/** The number of Postgres connections for the tenant of a database. */
async function connectionsOf({ pool }: TestDatabase): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`
    select count(*)::int from pg_stat_activity
    where datname = current_database() and application_name = 'tidemark'`);
  return rows[0]!.count;
}

const served = Array<number>(2 * rounds * others.length).fill(200);

it('a lock in one tenant’s database does not delay other tenants', async () => {
  await pull(tenants, victim);
  const holder = await databases[0]!.pool.connect();
  await holder.query('begin; lock table note in access exclusive mode');
  let pulled = 0;
  const requests = Array.from({ length: 200 }, async (_, i) => {
    const { status } = await pull(tenants, victim, `user ${i}`, { clientGroupID: `group ${i}` });
    if (status === 200) pulled++;
    return status;
  });
  try {
    await untilWaiting(databases[0]!.pool, 2);
    expect(await othersWork()).toEqual(served);
    // The waiting requests have not been served, and no other tenant has waited for them.
    expect(pulled).toBe(0);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  // The server refused requests that found many others waiting, with a time to retry.
  const statuses = new Set(await Promise.all(requests));
  expect(statuses).toContain(200);
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect((await pull(tenants, victim)).status).toBe(200);
});

it('a lost database does not delay other tenants', async () => {
  expect((await pull(tenants, victim)).status).toBe(200);
  proxy.target = 1;
  proxy.cut();
  const lost = Promise.all(Array.from({ length: 200 }, (_, i) => pull(tenants, victim, `user ${i}`)));
  expect(await othersWork()).toEqual(served);
  expect(new Set((await lost).map(({ status }) => status))).toEqual(new Set([503]));
});

it('a database that does not respond delays no other tenants, whether its tenant is open or not', async () => {
  proxy.break('half-open');
  const opening = Promise.all(Array.from({ length: 200 }, (_, i) => pull(tenants, victim, `user ${i}`)));
  expect(await othersWork()).toEqual(served);
  expect(new Set((await opening).map(({ status }) => status))).toEqual(new Set([503]));
  proxy.heal();
  await vi.waitFor(async () => expect((await pull(tenants, victim)).status).toBe(200));
  proxy.break('half-open');
  let answered = 0;
  const open = Array.from({ length: 200 }, (_, i) => pull(tenants, victim, `user ${i}`).then(() => answered++));
  expect(await othersWork()).toEqual(served);
  expect(answered).toBeLessThan(200);
  proxy.cut();
  proxy.heal();
  await Promise.all(open);
});

it('a flooding tenant fails no requests of others, and uses only its share of the connections', async () => {
  let [flooded, isOver] = [0, false];
  const flood = Array.from({ length: 100 }, async (_, i) => {
    const [user, clientID, clientGroupID] = [`user ${i % 30}`, `client ${i}`, `group ${i}`];
    for (let mutationID = 1; !isOver; mutationID++) {
      const note = { id: `${i} ${mutationID}`, body: 'flood' };
      await push(tenants, victim, note, { user, mutationID, clientID, clientGroupID });
      await pull(tenants, victim, user, { clientGroupID });
      flooded++;
      // As from a network: immediate refusals must not keep the process from everything else.
      await setImmediate();
    }
  });
  try {
    for (let i = 1; i <= 2; i++) {
      await vi.waitFor(() => expect(flooded).toBeGreaterThan(i * 50), 10_000);
      // No other tenant needs connections now. Postgres counts a closing connection for a moment longer.
      const used = () => connectionsOf(databases[0]!);
      await vi.waitFor(async () => expect(await used()).toBeLessThanOrEqual(connections / 3), 10_000);
      expect(await othersWork()).toEqual(served);
    }
  } finally {
    isOver = true;
    await Promise.all(flood);
  }
  expect(await occupancy(tenants)).toMatchObject({ open: count, failing: 0 });
});

it('a tenant has at most a thousand requests in progress, and further ones are refused immediately', async () => {
  proxy.break('half-open');
  const requests = Array.from({ length: 1_010 }, (_, i) => pull(tenants, victim, `user ${i}`));
  const first = await Promise.race(requests);
  expect([first.status, first.headers.get('Retry-After')]).toEqual([503, '1']);
  expect(await first.json()).toMatchObject({ detail: expect.stringContaining('Too many requests of this tenant') });
  expect(await othersWork()).toEqual(served);
  proxy.cut();
  const refused = await Promise.all(requests.map(async (answer) => (await answer).text().catch(() => 'read')));
  expect(refused.filter((body) => body.includes('Too many requests of this tenant')).length).toBe(9);
});
