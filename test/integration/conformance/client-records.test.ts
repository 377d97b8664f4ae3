/** Records of clients do not accumulate forever, and a push ends soon after its client disconnects. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { forgetGroups } from '../../../packages/tidemark/src/store/seen-groups.js';
import { startServer, type TestServer } from './server.js';
import { mutation, pull, pullBody, push, pushBody, send } from './wire.js';

let server: TestServer;
beforeEach(async () => {
  const nothing = defineMutator(() => sleep(5));
  server = await startServer({ mutators: defineMutators({ nothing }), separateTransactions: true });
});
afterEach(() => server.close());

it('a client group that has been away for too long must start over, whether it pulls or pushes', async () => {
  await push(server, 'ann', [mutation(1, 'nothing', null), mutation(2, 'nothing', null)]);
  const { cookie } = await pull(server, 'ann');
  await server.pool.query(`update tidemark.client_group set seen_at = now() - interval '2 years'`);
  const db = openPool(server.pool);
  expect(await forgetGroups(db, 365 * 24 * 3600)).toBe(1);
  await db.close();
  const notFound = { error: 'ClientStateNotFound' };
  expect((await send(server, '/sync/pull', pullBody({ cookie }))).body).toEqual(notFound);
  expect((await push(server, 'ann', [mutation(3, 'nothing', null)])).body).toEqual(notFound);
});

it('a push ends soon after its client has disconnected', async () => {
  const applied = async () => {
    const { rows } = await server.pool.query('select last_mutation_id::int as id from tidemark.client');
    return rows[0]?.id ?? 0;
  };
  const controller = new AbortController();
  const body = JSON.stringify(pushBody(Array.from({ length: 3_000 }, (_, i) => mutation(i + 1, 'nothing', null))));
  const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer ann' };
  const pushing = fetch(`${server.url}/sync/push`, { method: 'POST', headers, body, signal: controller.signal });
  await vi.waitFor(async () => expect(await applied()).toBeGreaterThan(10), { timeout: 20_000 });
  controller.abort();
  await expect(pushing).rejects.toThrow('abort');
  const ended = () => server.lines.some(({ fields }) => fields.path === '/sync/push' && fields.status === 503);
  await vi.waitFor(() => expect(ended()).toBe(true), { timeout: 10_000 });
  expect(await applied()).toBeLessThan(3_000);
});
