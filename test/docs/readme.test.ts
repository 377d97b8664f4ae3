import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../database.js';
import { freePort, type Running, start } from '../process.js';
import { blocksOf, compile, createProject } from './compile.js';

const [server = '', client = '', replicache = ''] = blocksOf('README.md', 'ts');

vi.setConfig({ testTimeout: 120_000 });

const project = createProject();
const running: Running[] = [];
const databases: TestDatabase[] = [];

afterAll(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
  for (const database of databases) await database.drop();
  project.remove();
});

/** Runs a TypeScript file. */
function runFile(name: string, text: string, database: TestDatabase): Running {
  writeFileSync(join(project.folder, name), text);
  const program = start('--import', ['tsx', name], { cwd: project.folder, env: { DATABASE_URL: database.url } });
  running.push(program);
  return program;
}

describe("the README's application", () => {
  it('has fewer than 60 lines', () => {
    expect(server.split('\n').length + client.split('\n').length).toBeLessThan(60);
    const code = client.split('\n').filter((line) => line.trim() && !/^\s*\/\//.test(line));
    expect(code.length).toBeLessThanOrEqual(11);
    expect(code.join('\n')).not.toMatch(/\bas\b|\bany\b|\b(type|interface) \w+ =/);
  });

  it('does not compile with a wrong name, argument or field', async () => {
    const mistakes: Record<string, [right: string, wrong: string]> = {
      'mutator.ts': ['client.mutate.note.create', 'client.mutate.note.remove'],
      'argument.ts': ["body: 'Hello'", 'body: 7'],
      'function.ts': ['note: { create:', 'note: { remove:'],
      'view.ts': ["client.view('note')", "client.view('notes')"],
      'field.ts': ['console.log(notes)', 'console.log(notes[0]?.text)'],
      'row.ts': ['set(note.id, note)', 'set(note.id, { id: note.id })'],
    };
    const wrong = Object.entries(mistakes).map(([name, [right, mistake]]) => {
      expect(client).toContain(right);
      return [name, client.replace(right, mistake)];
    });
    const own = createProject();
    const output = await compile(own.folder, {
      'server.ts': server,
      'client.ts': client,
      ...Object.fromEntries(wrong),
    });
    own.remove();
    const files = new Set([...output.matchAll(/(\w+\.ts)\(/g)].map(([, file]) => file));
    expect([...files].toSorted()).toEqual(Object.keys(mistakes).toSorted());
  });

  it.each([
    ['tidemark/client', client, /^await client\.mutate.*$/m],
    ['the Replicache client', replicache, /^await rep\.mutate.*$/m],
  ])('syncs with %s', async (_, client, mutation) => {
    const database = await createEmptyDatabase();
    databases.push(database);
    const port = String(await freePort());
    const app = runFile('server.ts', server.replace('port: 3000', `port: ${port}`), database);
    await app.printed(/"msg":"Listening"/);

    // What a browser brings by itself: storage.
    const inNode = client
      .replaceAll('localhost:3000', `localhost:${port}`)
      .replace(/(name|user): 'ann'/, "$&, kvStore: 'mem'");
    expect(inNode).toMatch(/kvStore/);
    const browser = runFile('client.ts', inNode, database);
    await browser.printed(/body: 'Hello'/);

    const pool = new pg.Pool({ connectionString: database.url, max: 1 });
    pool.on('error', () => {});
    await vi.waitUntil(async () => (await pool.query('select 1 from note')).rowCount === 1, { timeout: 20_000 });
    expect((await pool.query('select owner_id, body from note')).rows).toEqual([{ owner_id: 'ann', body: 'Hello' }]);

    // Another device of Ann's, which has nothing yet, is sent what the first one wrote.
    browser.child.kill('SIGKILL');
    await browser.ended;
    const other = runFile('other.ts', inNode.replace(mutation, ''), database);
    await other.printed(/body: 'Hello'/);

    await pool.end();
    app.child.kill('SIGTERM');
    expect(await app.ended).toMatchObject({ code: 0, signal: null });
  });
});
