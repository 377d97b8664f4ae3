import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../conformance/server.js';

interface Client {
  run(baseUrl: string, token: string): Promise<{ readonly statuses: readonly number[]; readonly code?: string }>;
}

/** Not a static import, because another test generates its types, with other settings than this compilation. */
const client = new URL('../../typed-client/client.ts', import.meta.url).href;

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server?.close());

it('the typed client works with the server whose document it was generated from', async () => {
  const { run } = (await import(/* @vite-ignore */ client)) as Client;
  const { statuses, code } = await run(server.url, 'ann');
  // Only the first deletion of the list succeeds: a caller cannot delete a list that does not exist.
  expect(statuses.slice(0, -1)).toEqual([200, 200, 200, 200, 200, 200, 200]);
  expect(statuses.at(-1)).toBeGreaterThanOrEqual(400);
  expect(code).toBe('mutator-error');
  const { rows } = await server.pool.query(`select id from todo where title in ('Write a client', 'Written')`);
  expect(rows).toEqual([]);
});
