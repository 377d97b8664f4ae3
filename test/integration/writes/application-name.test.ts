/** The names of Postgres sessions identify the requests that they serve, while they serve them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineMutator, defineMutators } from '../../../packages/tidemark/src/registry/mutators.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { mutation, pushBody, send } from '../conformance/wire.js';

const seen: string[] = [];
const record = defineMutator(async ({ tx }) => {
  const { rows } = await tx.query(`select current_setting('application_name') as name`);
  seen.push(rows[0].name);
});

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ mutators: defineMutators({ record }) });
});
afterAll(() => server.close());

async function namesIn(request: () => Promise<{ status: number }>): Promise<string[]> {
  seen.splice(0);
  expect((await request()).status).toBe(200);
  return seen.splice(0);
}

const headers = (id: string) => ({ headers: { 'X-Sync-RequestID': id } });

it('a session has the request’s ID in its name during a push', async () => {
  const push = (id: string, ...ids: number[]) =>
    namesIn(() => send(server, '/sync/push', pushBody(ids.map((one) => mutation(one, 'record', null))), headers(id)));
  expect(await push('one', 1)).toEqual(['tidemark one']);
  expect(new Set(await push('several', 2, 3, 4))).toEqual(new Set(['tidemark several']));
});

it('a session has the request’s ID in its name during a call, truncated if it is long', async () => {
  const call = (id: string, more: Record<string, string> = {}) =>
    namesIn(() => send(server, '/api/mutators/record', {}, { headers: { 'X-Sync-RequestID': id, ...more } }));
  expect(await call('a call')).toEqual(['tidemark a call']);
  expect(await call('keyed', { 'Idempotency-Key': 'k' })).toEqual(['tidemark keyed']);
  const odd = `'; drop table list; -- $1 \\ "${'x'.repeat(100)}`;
  expect(await call(odd)).toEqual([`tidemark ${odd}`.slice(0, 63)]);
});

it('a session has no request’s ID in its name while it is idle', async () => {
  const { rows } = await server.pool.query(
    `select distinct application_name as name from pg_stat_activity
     where datname = current_database() and state = 'idle' and application_name like 'tidemark%'`,
  );
  expect(rows).toEqual([{ name: 'tidemark' }]);
});
