import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';
import { freePort, type Running, start } from '../support/process.js';
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

  it('does not compile with a wrong name, argument or field, on either side', async () => {
    type Mistake = [right: string, wrong: string, seenIn: string];
    const onClient: Record<string, Mistake> = {
      mutator: ['client.mutate.note.create', 'client.mutate.note.remove', 'client'],
      argument: ["body: 'Hello'", 'body: 7', 'client'],
      'missing-argument': [", body: 'Hello'", '', 'client'],
      function: ['note: { create:', 'note: { remove:', 'client'],
      view: ["client.view('note')", "client.view('notes')", 'client'],
      field: ['console.log(notes)', 'console.log(notes[0]?.text)', 'client'],
      row: ['set(note.id, note)', 'set(note.id, { id: note.id })', 'client'],
    };
    const onServer: Record<string, Mistake> = {
      'server-argument': ['args.body', 'args.text', 'server'],
      'server-key': ["key: 'id'", "key: 'noteID'", 'server'],
      'server-context': ['ctx.userID}`', 'ctx.user}`', 'server'],
      'renamed-mutator': ['note: { create }', 'note: { add: create }', 'client'],
      'renamed-argument': ['id: z.string(), body: z', 'id: z.string(), text: z', 'client server'],
      'renamed-field': ['sql<{ id: string; body: string }>', 'sql<{ id: string; text: string }>', 'client'],
      'renamed-view': ['views = { note }', 'views = { notes: note }', 'client'],
    };
    const change = (text: string, [right, wrong]: Mistake) => {
      expect(text).toContain(right);
      return text.replace(right, () => wrong);
    };
    const files: Record<string, string> = { 'right/server.ts': server, 'right/client.ts': client };
    for (const [name, mistake] of Object.entries(onClient)) {
      Object.assign(files, { [`${name}/server.ts`]: server, [`${name}/client.ts`]: change(client, mistake) });
    }
    for (const [name, mistake] of Object.entries(onServer)) {
      Object.assign(files, { [`${name}/server.ts`]: change(server, mistake), [`${name}/client.ts`]: client });
    }
    const mistaken = createProject();
    const output = await compile(mistaken.folder, files);
    mistaken.remove();
    const seen: Record<string, Set<string>> = {};
    for (const [, name, file] of output.matchAll(/([\w-]+)\/(server|client)\.ts\(/g)) {
      seen[name!] = (seen[name!] ?? new Set()).add(file!);
    }
    const found = Object.entries(seen).map(([name, files]) => [name, [...files].toSorted().join(' ')]);
    const expected = Object.entries({ ...onClient, ...onServer }).map(([name, [, , seenIn]]) => [name, seenIn]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });

  it.each([
    ['@tidemark/client', client, /^await client\.mutate.*$/m],
    ['the Replicache client', replicache, /^await rep\.mutate.*$/m],
  ])('syncs with %s', async (_, client, mutation) => {
    const database = await createEmptyDatabase();
    databases.push(database);
    const port = String(await freePort());
    const app = runFile('server.ts', server.replace('port: 3000', `port: ${port}`), database);
    await app.printed(/"msg":"Listening"/);

    // Replaces what browsers have built in: storage.
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

    // Another device of Ann's without data receives what the first one wrote.
    browser.child.kill('SIGKILL');
    await browser.ended;
    const other = runFile('other.ts', inNode.replace(mutation, ''), database);
    await other.printed(/body: 'Hello'/);

    await pool.end();
    app.child.kill('SIGTERM');
    expect(await app.ended).toMatchObject({ code: 0, signal: null });
  });
});
