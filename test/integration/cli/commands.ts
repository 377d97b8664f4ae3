/** The application folder in which the commands run. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { bin, root } from '../../support/built.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { freePort, type Output, type Running, type RunOptions, run, start } from '../../support/process.js';
import { runHere } from './command-line.js';

export const table =
  'create table if not exists note (id text primary key, owner_id text not null, body text not null)';

export const config = `
import { defineConfig, defineMutator, defineMutators, defineView, sql, type UserContext } from 'tidemark';

interface Note { id: string; body: string }

const note = defineView({
  query: ({ ctx }: { ctx: UserContext }) => sql<Note>\`select id, body from note where owner_id = \${ctx.userID}\`,
  key: 'id',
});
const latest = defineView({
  query: ({ ctx }: { ctx: UserContext }) =>
    sql<Note>\`select id, body from note where owner_id = \${ctx.userID} order by id desc fetch first 1 rows with ties\`,
  key: 'id',
});
const create = defineMutator(async ({ tx, args, ctx }) => {
  const { id, body } = args as Note;
  await tx.query('insert into note (id, owner_id, body) values ($1, $2, $3)', [id, ctx.userID, body]);
});

export default defineConfig({
  views: { note, latest },
  mutators: defineMutators({ note: { create } }),
  authenticate: (request) => {
    const name = request.headers.get('Authorization')?.slice('Bearer '.length);
    return name ? { userID: name } : null;
  },
  prepareEmbedded: (client) => client.query('${table}'),
});
`;

/** A new folder for each test, with the configuration and a link to the package. */
export let folder: string;
const running: Running[] = [];

/** Call once in each test file. */
export function useFolder(): void {
  // Each step starts a process, and some steps start a Postgres.
  vi.setConfig({ testTimeout: 120_000 });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tidemark-cli-'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(join(root, 'packages/tidemark'), join(folder, 'node_modules/tidemark'));
    writeFileSync(join(folder, 'tidemark.config.ts'), config);
  });

  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });
}

/** Runs a command in the folder until it exits. */
export function tidemark(args: readonly string[], env: RunOptions['env'] = {}): Promise<Output> {
  return run(bin, args, { cwd: folder, env });
}

/** Starts `tidemark serve` with these options, and waits until it listens. */
export async function serve(env: RunOptions['env'] = {}, ...options: string[]): Promise<Running & { url: string }> {
  const port = await freePort();
  const server = start(bin, ['serve', ...options], {
    cwd: folder,
    env: { PORT: String(port), HOST: '127.0.0.1', ...env },
  });
  running.push(server);
  const [, url] = await server.printed(/Listening at (http:\S+?)(\/sync\/pull|,)/);
  return { ...server, url: url! };
}

export async function post(url: string, body: object): Promise<{ status: number; body: unknown }> {
  const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer ann' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

export const pull = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null };
export const push = {
  pushVersion: 1,
  clientGroupID: 'g',
  profileID: 'p',
  schemaVersion: '',
  mutations: [{ id: 1, clientID: 'c', name: 'note.create', args: { id: 'n1', body: 'hello' }, timestamp: 1 }],
};
/** The patch of a pull after the push. */
export const patch = [
  { op: 'put', key: 'note/n1', value: { id: 'n1', body: 'hello' } },
  { op: 'put', key: 'latest/n1', value: { id: 'n1', body: 'hello' } },
];

/** A database with the application's table. Commands find it through DATABASE_URL. */
export let database: TestDatabase;

/** Call once in each block of tests that share a database. */
export function useDatabase(): void {
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.pool.query(table);
    vi.stubEnv('DATABASE_URL', database.url);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await database.drop();
  });
}

/** Runs a command in this process with the configuration in the folder. */
export function runConfigured(...args: string[]): ReturnType<typeof runHere> {
  return runHere([...args, '--config', join(folder, 'tidemark.config.ts')]);
}
