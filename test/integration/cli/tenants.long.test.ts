/** Commands with a configuration of tenants. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.js';
import { runHere } from './command-line.js';
import { config, folder, post, pull, push, serve, table, useFolder } from './commands.js';

useFolder();

const names = ['acme', 'blau', 'cyan'] as const;
let databases: TestDatabase[];
beforeAll(async () => {
  databases = await Promise.all(names.map(() => createEmptyDatabase()));
});
afterAll(() => Promise.all(databases.map((database) => database.drop())));

/** A configuration of these tenants, given the URLs of their databases. */
function ofTenants(urls: Readonly<Record<string, string>>, list = 'list: () => Object.keys(urls),'): string {
  return `${config.replace('export default defineConfig(', 'const application = (').replace('defineConfig', 'defineTenants')}
const urls: Record<string, string> = ${JSON.stringify(urls)};

export default defineTenants({
  tenantOf: (request) => new URL(request.url).searchParams.get('tenant'),
  open: (tenant) => {
    if (tenant === 'torn') throw new Error('The directory has no address');
    const { views, mutators, authenticate } = application;
    return urls[tenant] ? { database: urls[tenant], views, mutators, authenticate } : null;
  },
  ${list}
});
`;
}

let written = 0;
/** Runs a command in this process on a new configuration file, because a module is loaded only once. */
function runOn(text: string, ...args: string[]): ReturnType<typeof runHere> {
  const file = join(folder, `${++written}.config.ts`);
  writeFileSync(file, text);
  return runHere([...args, '--config', file]);
}

let urls: Record<string, string>;
beforeEach(() => {
  urls = Object.fromEntries(names.map((name, i) => [name, databases[i]!.url]));
});

it('migrate --all migrates each tenant that it can, prints its progress, and lists failures at the end', async () => {
  await databases[0]!.pool.query(table);
  await databases[2]!.pool.query(table);
  const dead = 'postgres://nobody@127.0.0.1:1/none';
  const list = "list: async function* () { yield* [...Object.keys(urls), 'torn', 'gone', 'acme']; },";
  const mixed = ofTenants({ ...urls, dead }, list);
  const { code, stdout, stderr } = await runOn(mixed, 'migrate', '--all', '--parallel', '2');
  expect(stdout).toBe('');
  for (const name of ['acme', 'cyan']) {
    expect(stderr).toMatch(new RegExp(`^\\d of 6 {2}${name}: ready after \\d+ steps$`, 'm'));
  }
  const [progress, failed] = stderr.split('\n\n') as [string, string];
  expect(progress.split('\n').map((line) => line.slice(0, 6))).toEqual([1, 2, 3, 4, 5, 6].map((n) => `${n} of 6`));
  const [title, ...lines] = failed.split('\n');
  expect(title).toBe('4 of 6 tenants failed:');
  const listed = failed.match(/^ {2}\w+(?=: )/gm)!.map((name) => name.trim());
  expect(listed.toSorted()).toEqual(['blau', 'dead', 'gone', 'torn']);
  expect(lines.join('\n')).toMatch(/^ {2}blau: The view "(note|latest)" cannot be served: there is no table note\./m);
  expect(lines.join('\n')).toMatch(/^ {2}dead: Cannot reach the database: .*ECONNREFUSED/m);
  expect(lines.join('\n')).toMatch(/^ {2}gone: `list` names it, but `open` returns nothing for it\.$/m);
  expect(lines.join('\n')).toMatch(/The others are ready\. When the causes are removed, run this again\.\n$/);
  expect(code).toBe(1);

  await databases[1]!.pool.query(table);
  const again = await runOn(ofTenants(urls), 'migrate', '--all');
  expect(again.stderr).toMatch(/^\d of 3 {2}acme: up to date$/m);
  expect(again.stderr).toMatch(/^\d of 3 {2}blau: ready after \d+ steps$/m);
  expect(again.stderr).toMatch(/^Done: the databases of all 3 tenants are ready\.$/m);
  expect(again.code).toBe(0);
});

it('serve serves each tenant from its own database', async () => {
  for (const { pool } of databases) await pool.query(table);
  expect((await runOn(ofTenants(urls), 'migrate', '--all')).code).toBe(0);
  writeFileSync(join(folder, 'tidemark.config.ts'), ofTenants(urls));
  const server = await serve({ LOG_LEVEL: 'silent' });
  const to = (path: string, tenant: string) => `${server.url}${path}?tenant=${tenant}`;
  expect(await post(to('/sync/push', 'acme'), push)).toEqual({ status: 200, body: {} });
  expect(await post(to('/sync/pull', 'acme'), pull)).toMatchObject({ body: { patch: [{ key: 'note/n1' }, {}] } });
  expect(await post(to('/sync/pull', 'blau'), pull)).toMatchObject({ status: 200, body: { patch: [] } });
  expect(await post(to('/sync/pull', 'none'), pull)).toMatchObject({ status: 404 });
  server.child.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ code: 0, signal: null });
});

it.each([
  [['migrate'], 2, /The configuration has tenants: to migrate the databases of all, add --all\. See tidemark --help/],
  [['migrate', '--all', '--parallel', '0'], 2, /--parallel must be a number from 1 to 999/],
  [['status'], 1, /The configuration has tenants, and this command works on one database\./],
])('%j is refused with an explanation', async (args, code, message) => {
  const ended = await runOn(ofTenants(urls), ...args);
  expect(ended.stderr).toMatch(message);
  expect(ended.code).toBe(code);
});

it('migrate --all is refused with an explanation if there is no list of tenants, or no tenant', async () => {
  const listless = await runOn(ofTenants(urls, ''), 'migrate', '--all');
  expect([listless.code, listless.stderr]).toEqual([
    1,
    'The configuration has no `list` that returns the names of all tenants.\n',
  ]);
  expect(await runOn(config, 'migrate', '--all')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^--all is for a configuration of tenants\. See/),
  });
});
