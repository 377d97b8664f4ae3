import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import { listenForPokes } from '../../support/poke-reader.js';
import { createSynced } from '../../support/synced.js';
import { type StoppingServer, startServer } from './stopping.js';

vi.setConfig({ testTimeout: 60_000 });

let database: TestDatabase;
let server: StoppingServer | undefined;

beforeEach(async () => {
  database = await createSynced('', {});
});
afterEach(async () => {
  server?.child.kill('SIGKILL');
  await server?.ended;
  await database.drop();
});

const send = (path: string, init: RequestInit = {}) => fetch(server!.url + path, init);

it('after SIGTERM, a server reports that it is not ready, still answers, and ends in time', async () => {
  server = await startServer(database.url, { drainDelayMs: 5_000, drainMs: 500 });
  const pokes = await listenForPokes(send, { user: 'ann' });
  const hanging = send('/api/mutators/hang?secret=1', { method: 'POST' }).catch(() => 'cut off');
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query(
      `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    );
    expect(rows).toHaveLength(1);
  });
  server.child.kill('SIGTERM');

  await vi.waitFor(async () => expect((await send('/readyz')).status).toBe(503), { timeout: 4_000 });
  const refusal = await send('/readyz');
  expect(refusal.headers.get('Retry-After')).toBe('1');
  expect(await refusal.json()).toMatchObject({ code: 'unavailable', detail: 'The server is stopping' });
  await pokes.ended;
  await expect(listenForPokes(send, { user: 'ann' })).rejects.toThrow('503');
  const answer = await send('/api/mutators/slow', { method: 'POST' });
  expect([answer.status, answer.headers.get('Connection')]).toEqual([200, 'close']);

  expect(await hanging).toBe('cut off');
  await expect(send('/readyz')).rejects.toThrow();
  const { code, stdout } = await server.ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/"count":1,"requests":\["POST \/api\/mutators\/hang"\].*were cut off/);
  expect(stdout).toContain('What the service holds could not be closed in time');
});

it('SIGINT, as from Ctrl-C, stops a server without a delay', async () => {
  server = await startServer(database.url, { drainDelayMs: 600_000 });
  expect((await send('/api/mutators/slow', { method: 'POST' })).status).toBe(200);
  server.child.kill('SIGINT');
  expect(await server.ended).toMatchObject({ code: 0, signal: null });
});
