import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../database.js';
import { freePort, type Running, start } from '../process.js';
import { blocksOf, createProject } from './compile.js';

const [server = '', client = ''] = blocksOf('README.md', 'ts');

vi.setConfig({ testTimeout: 120_000 });

const project = createProject();
let database: TestDatabase;
const running: Running[] = [];

beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
  await database.drop();
  project.remove();
});

/** Runs a TypeScript file. */
function runFile(name: string, text: string): Running {
  writeFileSync(join(project.folder, name), text);
  const program = start('--import', ['tsx', name], { cwd: project.folder, env: { DATABASE_URL: database.url } });
  running.push(program);
  return program;
}

describe("the README's application", () => {
  it('has fewer than 60 lines', () => {
    expect(server.split('\n').length + client.split('\n').length).toBeLessThan(60);
  });

  it('syncs with the Replicache client', async () => {
    const port = String(await freePort());
    const app = runFile('server.ts', server.replace('port: 3000', `port: ${port}`));
    await app.printed(/"msg":"Listening"/);

    // What a browser brings by itself: storage.
    const inNode = client
      .replaceAll('localhost:3000', `localhost:${port}`)
      .replace("name: 'ann'", "name: 'ann', kvStore: 'mem'");
    expect(inNode).toMatch(/kvStore/);
    const browser = runFile('client.ts', inNode);
    await browser.printed(/body: 'Hello'/);

    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    pool.on('error', () => {});
    await vi.waitUntil(async () => (await pool.query('select 1 from note')).rowCount === 1, { timeout: 20_000 });
    expect((await pool.query('select owner_id, body from note')).rows).toEqual([{ owner_id: 'ann', body: 'Hello' }]);

    // Another device of Ann's, which has nothing yet, is sent what the first one wrote.
    browser.child.kill('SIGKILL');
    await browser.ended;
    const other = runFile('other.ts', inNode.replace(/^await rep\.mutate.*$/m, ''));
    await other.printed(/body: 'Hello'/);

    await pool.end();
    app.child.kill('SIGTERM');
    expect(await app.ended).toMatchObject({ code: 0, signal: null });
  });
});
