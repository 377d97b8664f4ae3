import { afterEach, expect, it } from 'vitest';
import { type ServerOptions, startServer, type TestServer } from '../conformance/server.js';

let server: TestServer;
afterEach(() => server.close());

async function statuses(metrics?: ServerOptions['metrics']): Promise<number[]> {
  server = await startServer({ metrics });
  const status = async (headers: Record<string, string>) => (await fetch(`${server.url}/metrics`, { headers })).status;
  return [await status({}), await status({ Authorization: 'Bearer ann' })];
}

it('by default, metrics are off', async () => {
  expect(await statuses()).toEqual([404, 404]);
});

it('with "authenticated", only authenticated callers may read metrics', async () => {
  expect(await statuses('authenticated')).toEqual([401, 200]);
});

it('with "public", every caller may read metrics', async () => {
  expect(await statuses('public')).toEqual([200, 200]);
  const response = await fetch(`${server.url}/metrics`);
  expect(response.headers.get('Content-Type')).toMatch(/^text\/plain; version=0\.0\.4/);
});
