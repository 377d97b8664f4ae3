import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bin, root } from '../built.js';
import { createEmptyDatabase, type TestDatabase } from '../database.js';
import { freePort, livingPostgres, type Output, type Running, type RunOptions, run, start } from '../process.js';

const table = 'create table if not exists note (id text primary key, owner_id text not null, body text not null)';

const config = `
import { defineConfig, defineMutator, defineMutators, defineView, sql, type UserContext } from 'tidemark';

interface Note { id: string; body: string }

const note = defineView({
  query: ({ ctx }: { ctx: UserContext }) => sql<Note>\`select id, body from note where owner_id = \${ctx.userID}\`,
  key: 'id',
});
const latest = defineView({
  query: ({ ctx }: { ctx: UserContext }) =>
    sql<Note>\`select id, body from note where owner_id = \${ctx.userID} order by id desc limit 1\`,
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

// Each step starts a process, and some a Postgres.
vi.setConfig({ testTimeout: 120_000 });

let folder: string;
const running: Running[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-cli-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules/tidemark'));
  writeFileSync(join(folder, 'tidemark.config.ts'), config);
});

afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

function tidemark(args: readonly string[], env: RunOptions['env'] = {}): Promise<Output> {
  return run(bin, args, { cwd: folder, env });
}

async function serve(env: RunOptions['env'] = {}): Promise<Running & { url: string }> {
  const port = await freePort();
  const server = start(bin, ['serve'], { cwd: folder, env: { PORT: String(port), HOST: '127.0.0.1', ...env } });
  running.push(server);
  const [, url] = await server.printed(/Listening at (http:\S+)\/sync\/pull/);
  return { ...server, url: url! };
}

async function post(url: string, body: object): Promise<{ status: number; body: unknown }> {
  const headers = { 'Content-Type': 'application/json', Authorization: 'Bearer ann' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

const pull = { pullVersion: 1, clientGroupID: 'g', profileID: 'p', schemaVersion: '', cookie: null };
const push = {
  pushVersion: 1,
  clientGroupID: 'g',
  profileID: 'p',
  schemaVersion: '',
  mutations: [{ id: 1, clientID: 'c', name: 'note.create', args: { id: 'n1', body: 'hello' }, timestamp: 1 }],
};
const patch = [
  { op: 'put', key: 'note/n1', value: { id: 'n1', body: 'hello' } },
  { op: 'put', key: 'latest/n1', value: { id: 'n1', body: 'hello' } },
];

describe('the command line', () => {
  it('helps', async () => {
    for (const args of [['--help'], ['serve', '--help'], ['status', '-h']]) {
      const { code, stdout } = await tidemark(args);
      expect(code).toBe(0);
      expect(stdout).toMatch(/DATABASE_URL/);
      expect(stdout).toMatch(/Examples/);
    }
    expect(await tidemark(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tidemark\/\d/) });
  });

  it.each([
    [['nonsense'], /Unknown command 'nonsense'/],
    [['serve', '--nonsense'], /Unknown option --nonsense/],
    [['--nonsense'], /Unknown option --nonsense/],
    [['migrate', 'nonsense'], /Too many arguments for 'migrate'/],
    [['status', '--config'], /'--config <file>' argument missing/],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { code, stderr } = await tidemark(args);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/See tidemark --help\.\n$/);
    expect(code).toBe(2);
  });

  it('prints the commands when there is none', async () => {
    expect(await tidemark([])).toMatchObject({ code: 2, stderr: expect.stringMatching(/Commands:/) });
  });

  it('says when there is no configuration, and starts no database', async () => {
    rmSync(join(folder, 'tidemark.config.ts'));
    const { code, stderr } = await tidemark(['migrate']);
    expect(stderr).toMatch(/^There is no tidemark\.config\.ts, .*\n$/);
    expect(code).toBe(1);
    expect(existsSync(join(folder, '.tidemark'))).toBe(false);
  });

  it('takes another configuration by its name, and says when it is not there', async () => {
    const { code, stderr } = await tidemark(['migrate', '--config', 'other.ts']);
    expect([code, stderr]).toEqual([1, `${join(folder, 'other.ts')} does not exist.\n`]);
  });

  it('says that the database cannot be reached, without a stack', async () => {
    const { code, stderr } = await tidemark(['serve'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(stderr).toMatch(/^Cannot reach the database: .*ECONNREFUSED.*\n$/);
    expect(code).toBe(1);
  });
});

describe('on the Postgres at DATABASE_URL', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    await database.pool.query(table);
    env = { DATABASE_URL: database.url };
  });
  afterAll(() => database.drop());

  it('goes from an empty database through migrate, serve and uninstall', async () => {
    const early = await tidemark(['serve'], env);
    expect([early.code, early.stderr]).toEqual([
      1,
      'Tidemark is not installed in this database. Run `tidemark migrate`.\n',
    ]);
    const before = await tidemark(['status'], env);
    expect(before.code).toBe(1);
    expect(before.stdout).toMatch(/Problems\n {2}Tidemark is not installed in this database\. Run `tidemark migrate`/);

    const migrated = await tidemark(['migrate'], env);
    expect(migrated.stderr).toMatch(/applying 0001[\s\S]*capturing changes of public\.note\nDone/);
    expect(migrated.code).toBe(0);
    expect((await tidemark(['migrate'], env)).stderr).toBe('Nothing to do: the database is up to date.\n');

    const server = await serve(env);
    expect(await post(`${server.url}/sync/push`, push)).toEqual({ status: 200, body: {} });
    expect(await post(`${server.url}/sync/pull`, pull)).toMatchObject({ status: 200, body: { patch } });
    server.child.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, signal: null });

    const { code, stdout } = await tidemark(['status'], env);
    expect(stdout).toMatch(/note +incremental/);
    expect(stdout).toMatch(/latest +compare +it has LIMIT/);
    expect(stdout).toMatch(/note +captured +1 log row\b/);
    expect(stdout).toMatch(/Clients +1 in 1 client group\b/);
    expect(stdout).toMatch(/No problems found\.\n$/);
    expect(code).toBe(0);
    const json = JSON.parse((await tidemark(['status', '--json'], env)).stdout);
    expect(json).toMatchObject({
      schema: { installed: json.schema.code },
      log: { clients: 1, clientGroups: 1, installID: expect.any(String) },
      tables: [{ name: 'note', read: true, captured: true, logRows: 1 }],
      problems: [],
    });

    await database.pool.query('alter table note disable trigger tidemark_update');
    const broken = await tidemark(['status'], env);
    expect(broken.stdout).toMatch(/NOT CAPTURED[\s\S]*Changes of note are not captured: .* Run `tidemark migrate`/);
    expect(broken.code).toBe(1);

    const asked = await tidemark(['uninstall'], env);
    expect(asked.stderr).toMatch(/To confirm, run it again with --yes/);
    expect(asked.code).toBe(1);
    expect((await tidemark(['uninstall', '--yes'], env)).code).toBe(0);
    const { rows } = await database.pool.query(
      `select to_regnamespace('tidemark') as schema, (select body from note) as body`,
    );
    expect(rows).toEqual([{ schema: null, body: 'hello' }]);
  });

  it('refuses a schema that is newer than the code', async () => {
    await tidemark(['migrate'], env);
    await database.pool.query(`insert into tidemark.migration (version, file) values (9999, '9999-later.sql')`);
    for (const command of ['migrate', 'serve', 'status']) {
      const { code, stdout, stderr } = await tidemark([command], env);
      expect(stdout + stderr).toMatch(/has version 9999.*Deploy a newer Tidemark/);
      expect(code).toBe(1);
    }
  });

  it('says which view cannot be served', async () => {
    const text = config.replace('order by id desc limit 1', 'and now() is not null');
    writeFileSync(join(folder, 'tidemark.config.ts'), text);
    const { code, stderr } = await tidemark(['migrate'], env);
    expect(stderr).toMatch(/^The view "latest" cannot be served: it uses now\(\).*\n$/);
    expect(code).toBe(1);
    expect((await tidemark(['status'], env)).stdout).toMatch(/latest +refused/);
  });
});

describe('on the embedded Postgres', () => {
  const pidOf = (data: string) => {
    const file = join(data, 'postgres/postmaster.pid');
    return livingPostgres(existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  };

  it('makes no database to look at or to clean', async () => {
    for (const args of [['status'], ['uninstall', '--yes']]) {
      const { code, stderr } = await tidemark(args);
      expect(stderr).toMatch(/DATABASE_URL is not set, and there is no embedded database/);
      expect(code).toBe(1);
    }
    expect(existsSync(join(folder, '.tidemark'))).toBe(false);
  });

  it('serves at once, keeps the data, and leaves no Postgres behind', async () => {
    const data = join(folder, '.tidemark');
    const server = await serve();
    expect(pidOf(data)).toBeDefined();
    expect(await post(`${server.url}/sync/push`, push)).toEqual({ status: 200, body: {} });
    server.child.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/Embedded Postgres: postgres:\/\//);
    expect(pidOf(data)).toBeUndefined();

    const again = await serve();
    expect(await post(`${again.url}/sync/pull`, pull)).toMatchObject({ status: 200, body: { patch } });
    const second = await tidemark(['status']);
    expect(second.stderr).toMatch(/is in use by process \d+/);
    again.child.kill('SIGINT');
    expect((await again.ended).code).toBe(0);

    expect((await tidemark(['status'])).stdout).toMatch(/No problems found/);
    expect((await tidemark(['uninstall', '--yes'])).code).toBe(0);
    expect((await tidemark(['status'])).code).toBe(1);
    expect(pidOf(data)).toBeUndefined();
  });

  it('keeps its data where TIDEMARK_DATA says, and stops it when the port is taken', async () => {
    const server = await serve();
    const { port } = new URL(server.url);
    const data = join(folder, 'elsewhere');
    const { code, stderr } = await tidemark(['serve'], { TIDEMARK_DATA: data, PORT: port, HOST: '127.0.0.1' });
    expect(stderr).toMatch(/EADDRINUSE.*set PORT to another port/);
    expect(code).toBe(1);
    expect(existsSync(join(data, 'postgres'))).toBe(true);
    expect(pidOf(data)).toBeUndefined();
  });
});
