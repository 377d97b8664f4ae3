import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { freePort, livingPostgres, type Running, start } from '../process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const main = join(root, 'examples/tasks/dist/main.js');

vi.setConfig({ testTimeout: 120_000 });

let folder: string;
let server: Running | undefined;
let url: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-start-'));
});
afterAll(async () => {
  server?.child.kill('SIGKILL');
  await server?.ended;
  await vi.waitUntil(() => postgres() === undefined, { timeout: 20_000 });
  rmSync(folder, { recursive: true, force: true });
});

function postgres(): number | undefined {
  const file = join(folder, 'postgres/postmaster.pid');
  return livingPostgres(existsSync(file) ? readFileSync(file, 'utf8') : undefined);
}

/** Starts the example as `npm start` does. Resolves with the database's URL when it is ready. */
async function startExample(args: readonly [string, ...string[]] = [main], env: object = {}): Promise<string> {
  const [first, ...others] = args;
  const port = await freePort();
  server = start(first, others, { cwd: root, env: { TIDEMARK_DATA: folder, PORT: String(port), ...env } });
  await server.printed(/Stop with Ctrl-C/);
  url = (await server.printed(/Ready +(\S+)/))[1]!;
  return (await server.printed(/Database +(\S+)/))[1]!;
}

async function pull(user: string, cookie: unknown): Promise<{ cookie: unknown; patch: { key: string }[] }> {
  const response = await fetch(`${url}/sync/pull`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${user}` },
    body: JSON.stringify({ pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { cookie: unknown; patch: { key: string }[] };
}

it('starts, serves the demo, is seen to be written to, and survives a kill', async () => {
  const database = await startExample();
  for (const path of ['/healthz', '/readyz']) expect((await fetch(url + path)).status).toBe(200);

  const first = await pull('ann', null);
  expect(
    first.patch
      .filter(({ key }) => key.startsWith('list/'))
      .map(({ key }) => key)
      .sort(),
  ).toEqual(['list/ann-home', 'list/ann-trip', 'list/ann-work', 'list/ben-garden']);
  expect(first.patch.length).toBeGreaterThan(100);
  expect((await fetch(`${url}/sync/pull`, { method: 'POST', headers: { Authorization: 'ann' } })).status).toBe(401);

  const client = new pg.Client({ connectionString: database });
  await client.connect();
  await client.query(`update todo set title = 'Written from outside' where id = 'ann-home-1'`);
  await client.end();
  const second = await pull('ann', first.cookie);
  expect(second.patch).toEqual([
    { op: 'put', key: 'todo/ann-home-1', value: expect.objectContaining({ title: 'Written from outside' }) },
  ]);

  server!.child.kill('SIGKILL');
  await server!.ended;
  await startExample();
  expect(await pull('ann', second.cookie)).toEqual({ ...second, patch: [], lastMutationIDChanges: {} });
});

it('stops at a signal, and Postgres with it', async () => {
  expect(postgres()).toBeDefined();
  server!.child.kill('SIGTERM');
  expect(await server!.ended).toMatchObject({ code: 0, signal: null });
  expect(postgres()).toBeUndefined();
});

it('stops when the shell in which npm runs it is gone', async () => {
  const shell = `require('node:child_process').spawn(process.execPath, [${JSON.stringify(main)}], { stdio: 'inherit' })`;
  await startExample(['-e', shell], { npm_lifecycle_event: 'start' });
  expect(postgres()).toBeDefined();
  server!.child.kill('SIGKILL');
  // The output ends with the last process that writes to it.
  await server!.ended;
  expect(postgres()).toBeUndefined();
});
