import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { exampleMain } from '../../support/built.js';
import { createDataFolder, type DataFolder, type Example, startExample } from './example.js';

vi.setConfig({ testTimeout: 120_000 });

let folder: DataFolder;
let example: Example | undefined;

beforeAll(() => {
  folder = createDataFolder();
});
afterAll(async () => {
  await example?.stop('SIGKILL');
  await folder.remove();
});

const wants = [{ view: 'todo', args: { listID: 'ann-home' } }];

async function start(args?: readonly [string, ...string[]], env: Readonly<Record<string, string>> = {}) {
  example = await startExample({ TIDEMARK_DATA: folder.path, ...env }, args);
  return example;
}

/** Pulls a user's views, with the todos of Ann's list "Home". */
async function pull(
  url: string,
  user: string,
  cookie: unknown,
): Promise<{ cookie: unknown; patch: { key: string }[] }> {
  const response = await fetch(`${url}/sync/pull`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${user}` },
    body: JSON.stringify({ pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie, wants }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { cookie: unknown; patch: { key: string }[] };
}

it('the example starts, serves the demo, detects writes from outside, and survives a kill', async () => {
  const { url, database } = await start();
  for (const path of ['/healthz', '/readyz']) expect((await fetch(url + path)).status).toBe(200);

  const first = await pull(url, 'ann', null);
  expect(
    first.patch
      .filter(({ key }) => key.startsWith('list/'))
      .map(({ key }) => key)
      .sort(),
  ).toEqual(['list/ann-home', 'list/ann-trip', 'list/ann-work', 'list/ben-garden']);
  expect(first.patch.length).toBeGreaterThan(36);
  expect((await fetch(`${url}/sync/pull`, { method: 'POST', headers: { Authorization: 'ann' } })).status).toBe(401);

  const client = new pg.Client({ connectionString: database });
  await client.connect();
  await client.query(`update todo set title = 'Written from outside' where id = 'ann-home-1'`);
  await client.end();
  const second = await pull(url, 'ann', first.cookie);
  expect(second.patch).toEqual([
    { op: 'put', key: 'todo/ann-home-1', value: expect.objectContaining({ title: 'Written from outside' }) },
  ]);

  await example!.stop('SIGKILL');
  const again = await start();
  expect(await pull(again.url, 'ann', second.cookie)).toEqual({ ...second, patch: [], lastMutationIDChanges: {} });
});

it('the example restarts Postgres each time it is killed, and serves on the same port', async () => {
  const { url, server } = example!;
  const isReady = async () => (await fetch(`${url}/readyz`)).status === 200;
  const { cookie, patch } = await pull(url, 'ann', null);
  for (const time of [1, 2]) {
    const killed = folder.postgres()!;
    process.kill(killed, 'SIGKILL');
    const warnings = new RegExp(`("level":40[^\\n]*Postgres ended by itself \\(signal SIGKILL\\)[^]*){${time}}`);
    await server.printed(warnings);
    for (const limit = Date.now() + 60_000; [killed, undefined].includes(folder.postgres()) || !(await isReady()); ) {
      if (Date.now() > limit) throw new Error('The example is not ready a minute after Postgres was killed');
      await sleep(50);
    }
    // A connection from before the kill may still fail a pull. A client would retry.
    await vi.waitFor(async () => expect((await pull(url, 'ann', null)).patch).toEqual(patch), 60_000);
    await vi.waitFor(async () => expect((await pull(url, 'ann', cookie)).patch).toEqual([]), 60_000);
  }
});

it('the example stops at a signal, and stops Postgres', async () => {
  expect(folder.postgres()).toBeDefined();
  expect(await example!.stop()).toMatchObject({ code: 0, signal: null });
  expect(folder.postgres()).toBeUndefined();
});

it('the example stops when the shell in which npm runs it has ended', async () => {
  const shell = `require('node:child_process').spawn(process.execPath, [${JSON.stringify(exampleMain)}], { stdio: 'inherit' })`;
  await start(['-e', shell], { npm_lifecycle_event: 'start' });
  expect(folder.postgres()).toBeDefined();
  // The output ends with the last process that writes to it.
  await example!.stop('SIGKILL');
  expect(folder.postgres()).toBeUndefined();
});
