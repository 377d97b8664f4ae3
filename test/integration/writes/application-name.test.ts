/** Sessions of Postgres lead to the requests that they serve, as long as they do. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineMutator, defineMutators } from '../../../src/registry/mutators.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { mutation, pushBody, send } from '../conformance/wire.js';

const seen: string[] = [];
const look = defineMutator(async ({ tx }) => {
  const { rows } = await tx.query(`select current_setting('application_name') as name`);
  seen.push(rows[0].name);
});

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ mutators: defineMutators({ look }) });
});
afterAll(() => server.close());

async function namesIn(request: () => Promise<{ status: number }>): Promise<string[]> {
  seen.splice(0);
  expect((await request()).status).toBe(200);
  return seen.splice(0);
}

const headers = (id: string) => ({ headers: { 'X-Sync-RequestID': id } });

it('in a push of one mutation, and of several', async () => {
  const push = (id: string, ...ids: number[]) =>
    namesIn(() => send(server, '/sync/push', pushBody(ids.map((one) => mutation(one, 'look', null))), headers(id)));
  expect(await push('one', 1)).toEqual(['tidemark one']);
  expect(new Set(await push('several', 2, 3, 4))).toEqual(new Set(['tidemark several']));
});

it('in a call; a request ID may be any text, of which Postgres keeps what it has room for', async () => {
  const call = (id: string, more: Record<string, string> = {}) =>
    namesIn(() => send(server, '/api/mutators/look', {}, { headers: { 'X-Sync-RequestID': id, ...more } }));
  expect(await call('a call')).toEqual(['tidemark a call']);
  expect(await call('keyed', { 'Idempotency-Key': 'k' })).toEqual(['tidemark keyed']);
  const odd = `'; drop table list; -- $1 \\ "${'x'.repeat(100)}`;
  expect(await call(odd)).toEqual([`tidemark ${odd}`.slice(0, 63)]);
});

it('and no longer than that', async () => {
  const { rows } = await server.pool.query(
    `select distinct application_name as name from pg_stat_activity
     where datname = current_database() and state = 'idle' and application_name like 'tidemark%'`,
  );
  expect(rows).toEqual([{ name: 'tidemark' }]);
});
