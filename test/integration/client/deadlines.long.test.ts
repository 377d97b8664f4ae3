/** Requests that get no response, or half of one, on a connection that is never reset. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type HostileProxy, openProxy, type TreatmentKind } from '../../stress/hostile/proxy.js';
import type { TasksClient } from './application.js';
import { useApplication } from './application.js';

vi.spyOn(console, 'error').mockImplementation(() => {});

const application = useApplication();

let treat: (path: string) => TreatmentKind;
let proxy: HostileProxy;
beforeEach(async () => {
  treat = () => 'pass';
  proxy = await openProxy(
    () => application.server.url,
    ({ path }) => ({ kind: treat(path) }),
  );
});
afterEach(() => proxy.close());

/** A client of Ann's with short time limits. */
function open(): TasksClient {
  return application.open({ url: proxy.url }, { requests: { maxHeadersMs: 1000, maxSilenceMs: 500 } }).client;
}

it.each<[what: string, TreatmentKind, path: string]>([
  ['a pull without a response', 'swallow request', '/sync/pull'],
  ['a pull with half a response', 'halve', '/sync/pull'],
  ['a push without a response', 'swallow request', '/sync/push'],
  // A pull that gets through would confirm the push.
  ['a push with half a response', 'halve', '/sync/pu'],
])('%s is aborted and sent again, and the status shows it', async (_, kind, stuck) => {
  const ann = open();
  await expect.poll(() => ann.status.get().state).toBe('online');
  treat = (path) => (path.startsWith(stuck) ? kind : 'pass');
  await ann.mutate.list.create({ id: 'a', name: 'Mine' });
  ann.pull().catch(() => {});
  await expect.poll(() => ann.status.get().state, { timeout: 5000 }).toBe('offline');
  expect(ann.status.get().error).toMatchObject({ code: 'timeout', message: /in time/ });
  treat = () => 'pass';
  await expect.poll(() => ann.pending.get(), { timeout: 5000 }).toEqual([]);
  await expect.poll(() => ann.status.get().state).toBe('online');
  await ann.close();
});

it('a push that is aborted after a pull has confirmed its calls leaves the status online', async () => {
  const ann = open();
  await expect.poll(() => ann.status.get().state).toBe('online');
  let pushed = 0;
  treat = (path) => {
    if (path !== '/sync/push') return 'pass';
    pushed = performance.now();
    return 'swallow response';
  };
  await ann.mutate.list.create({ id: 'a', name: 'Mine' });
  await expect.poll(() => ann.pending.get()).toEqual([]);
  // Longer than the deadline of a push.
  await expect.poll(() => pushed > 0 && performance.now() - pushed, { timeout: 5000 }).toBeGreaterThan(1500);
  expect(ann.status.get()).toMatchObject({ state: 'online', error: null });
  await ann.close();
});

it('a response that takes longer than any limit is read while parts of it arrive', async () => {
  for (let i = 0; i < 4; i++) {
    await application.server.pool.query(`insert into list (id, name, owner_id) values ('${i}', 'Some list', 'ann')`);
  }
  treat = (path) => (path.startsWith('/sync/pull') ? 'trickle' : 'pass');
  const ann = open();
  const start = performance.now();
  await expect.poll(() => ann.view('list').list(), { timeout: 30_000 }).toHaveLength(4);
  expect(performance.now() - start).toBeGreaterThan(1500);
  expect(ann.status.get()).toMatchObject({ state: 'online', error: null });
  await ann.close();
});

it('pending calls are sent as soon as the server can be reached', async () => {
  const ann = open();
  await expect.poll(() => ann.status.get().state).toBe('online');
  treat = () => 'swallow request';
  await ann.mutate.list.create({ id: 'a', name: 'Mine' });
  // The engine's own delays double: 30 ms at first, then as long as all attempts have taken so far.
  await new Promise((resolve) => setTimeout(resolve, 8000));
  expect(ann.pending.get()).toHaveLength(1);
  treat = () => 'pass';
  await ann.pull();
  await expect.poll(() => ann.pending.get(), { timeout: 2000 }).toEqual([]);
  await ann.close();
}, 20_000);
