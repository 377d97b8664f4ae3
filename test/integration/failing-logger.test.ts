import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { createSync, defineView, type Logger, migrate, type Sync, sql } from '../../packages/tidemark/src/index.js';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';

/** An easy mistake in an application: pino's methods do not work without their logger. */
const log: Logger = { ...(pino() as Logger) };
const views = { note: defineView({ query: () => sql<{ id: string }>`select id from note`, key: 'id' }) };
const consoleError = vi.spyOn(console, 'error');

let database: TestDatabase;
let sync: Sync;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await database.pool.query('create table note (id text primary key)');
});
beforeEach(() => void consoleError.mockReset().mockReturnValue());
afterAll(async () => {
  consoleError.mockRestore();
  await sync?.close();
  await database.drop();
});

it('migrate works with a logger that throws, and prints the messages', async () => {
  await migrate({ database: database.url, views, log });
  expect(consoleError).toHaveBeenCalledWith(
    expect.stringMatching(/^The option `log` threw TypeError: .*\. It was called with: info: ./),
  );
});

it('a server answers requests with a logger that throws', async () => {
  sync = await createSync({ database: database.url, views, authenticate: () => null, log });
  expect((await sync.fetch(new Request('http://localhost/sync/pull', { method: 'POST' }))).status).toBe(401);
  expect(consoleError).toHaveBeenCalledWith(expect.stringMatching(/^The option `log` threw TypeError/));
});
