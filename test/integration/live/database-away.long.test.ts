import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type EmbeddedDatabase, startEmbedded } from '../../../packages/embedded-postgres/src/start.js';
import { listenForPokes } from '../../support/poke-reader.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { openPokedClients, type PokedClients } from './poked-clients.js';
import { startWriter } from './writer.js';

const directory = mkdtempSync(join(tmpdir(), 'tidemark-away-'));
const startPostgres = () => startEmbedded({ directory, settings: { fsync: 'off' } });
let postgres: EmbeddedDatabase;
let server: TestServer;
let clients: PokedClients;

beforeAll(async () => {
  postgres = await startPostgres();
  // A test can stop this cluster.
  vi.stubEnv('TIDEMARK_TEST_CLUSTER', postgres.url);
  server = await startServer();
  clients = await openPokedClients(server, ['ann', 'ben', 'ann']);
});

afterAll(async () => {
  await clients.close();
  await server.close();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
});

const send = (path: string, init: RequestInit) => fetch(server.url + path, init);

it('streams survive a restart of the database, and poke for changes made after it', async () => {
  const writer = startWriter(server.pool);
  await sleep(200);
  await writer.stop();
  const reader = await listenForPokes(send, { user: 'ann' });
  await postgres.stop();
  await vi.waitFor(async () => expect((await send('/readyz', {})).status).toBe(503), { timeout: 5_000 });
  await expect(listenForPokes(send, { user: 'ben' })).rejects.toThrow('503');
  postgres = await startPostgres();
  const pokes = reader.pokes();
  await server.pool.query(`insert into list (id, owner_id, name) values ('after', 'ann', 'After')`);
  await reader.poked(pokes + 1);
  await clients.converge();
  reader.close();
});
