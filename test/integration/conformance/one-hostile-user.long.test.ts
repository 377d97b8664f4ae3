/** Neither the requests of one user nor the obstacles in that user's way affect other users. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { mutators } from '../../../examples/tasks/src/mutators.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { startServer, type TestServer } from './server.js';
import { type Answer, mutation, pull, pullBody, push, pushBody, send } from './wire.js';

const transactionMs = 1_000;
const hang = defineMutator(() => sleep(60_000, undefined, { ref: false }));
const sleepInDatabase = defineMutator(({ tx }) => tx.query('select pg_sleep(60)'));
const hostile = defineMutators({ hang, sleep: sleepInDatabase });

let server: TestServer;
beforeEach(async () => {
  server = await startServer({
    mutators: new Map([...mutators, ...hostile]),
    timeouts: { transactionMs },
  });
});
afterEach(() => server.close());

/** Checks for some time that each push and small pull of another user is answered within a second. */
async function servesBob(forMs: number): Promise<void> {
  let { cookie } = await pull(server, 'bob');
  let slowest = 0;
  const timed = async <T>(work: Promise<T>): Promise<T> => {
    const started = performance.now();
    const result = await work;
    slowest = Math.max(slowest, performance.now() - started);
    return result;
  };
  for (let id = 1, end = performance.now() + forMs; performance.now() < end; id++) {
    const args = { id: `list ${id}`, name: 'Chores' };
    const pushed = await timed(
      push(server, 'bob', [mutation(id, 'list.create', args, 'bob')], { clientGroupID: 'bob' }),
    );
    expect(pushed.status).toBe(200);
    const answer = await timed(pull(server, 'bob', { cookie, clientGroupID: 'bob' }));
    expect(answer.patch.length).toBeGreaterThan(0);
    ({ cookie } = answer);
  }
  expect(slowest).toBeLessThan(1_000);
}

const waitingBackends = async () => {
  const { rows } = await server.pool.query<{ count: number }>(
    `select count(*)::int from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and (wait_event_type = 'Lock' or query like '%pg_sleep(60)%' and state = 'active')`,
  );
  return rows[0]!.count;
};

it.each(['hang', 'sleep'])(
  'eight mutators that %s hold only some connections, and only for a limited time',
  async (name) => {
    const pushes = Array.from({ length: 8 }, (_, i) =>
      push(server, 'eve', [mutation(1, name, null, `eve ${i}`)], { clientGroupID: `eve ${i}` }),
    );
    const ended = Promise.allSettled(pushes);
    await servesBob(2_000);
    for (const result of await ended) {
      const { status, headers } = (result as PromiseFulfilledResult<Answer>).value;
      expect(status).toBe(503);
      expect(Number(headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
    }
    await vi.waitFor(async () => expect(await waitingBackends()).toBe(0));
  },
  60_000,
);

it('pulls that wait for a lock hold no connection once their clients have disconnected', async () => {
  const holder = await server.pool.connect();
  try {
    await holder.query('begin; lock table todo in access exclusive mode');
    const controller = new AbortController();
    const pulls = Array.from({ length: 12 }, (_, i) => {
      const headers = { 'Content-Type': 'application/json', Authorization: `Bearer eve${i}` };
      const body = JSON.stringify(pullBody({ clientGroupID: `eve ${i}` }));
      return fetch(`${server.url}/sync/pull`, { method: 'POST', headers, body, signal: controller.signal });
    });
    await vi.waitFor(async () => expect(await waitingBackends()).toBeGreaterThan(2));
    controller.abort();
    await Promise.allSettled(pulls);
    await vi.waitFor(async () => expect(await waitingBackends()).toBe(0), { timeout: 5_000 });
    // Other users can write what is not locked.
    const pushed = await send(server, '/sync/push', pushBody([mutation(1, 'list.create', { id: 'l', name: 'L' })]), {
      user: 'bob',
    });
    expect(pushed.status).toBe(200);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
  expect((await pull(server, 'eve0', { clientGroupID: 'eve 0' })).patch).toEqual([]);
}, 60_000);
