import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from './command-line.js';
import {
  config,
  database,
  folder,
  patch,
  post,
  pull,
  push,
  runConfigured,
  serve,
  tidemark,
  useDatabase,
  useFolder,
} from './commands.js';

useFolder();

describe('the command line', () => {
  it('prints its help and its version', async () => {
    for (const args of [['--help'], ['serve', '--help'], ['status', '-h']]) {
      const { code, stdout } = await runHere(args);
      expect(code).toBe(0);
      expect(stdout).toMatch(/DATABASE_URL/);
      expect(stdout).toMatch(/Examples/);
    }
    expect(await runHere(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^tidemark\/\d/) });
  });

  it.each([
    [['nonsense'], /Unknown command 'nonsense'/],
    [['serve', '--nonsense'], /Unknown option --nonsense/],
    [['serve', '--workers', '0'], /--workers must be auto, or a number from 1 to 999/],
    [['serve', '--workers', 'many'], /--workers must be auto, or a number from 1 to 999/],
    [['--nonsense'], /Unknown option --nonsense/],
    [['migrate', 'nonsense'], /Too many arguments for 'migrate'/],
    [['status', '--config'], /'--config <file>' argument missing/],
  ])('refuses %j with exit code 2', async (args, message) => {
    const { code, stderr } = await runHere(args);
    expect(stderr).toMatch(message);
    expect(stderr).toMatch(/See tidemark --help\.\n$/);
    expect(code).toBe(2);
  });

  it('prints the commands when none is given', async () => {
    expect(await runHere([])).toMatchObject({ code: 2, stderr: expect.stringMatching(/Commands:/) });
  });

  it('reports a missing configuration, and starts no database', async () => {
    rmSync(join(folder, 'tidemark.config.ts'));
    const { code, stderr } = await tidemark(['migrate']);
    expect(stderr).toMatch(/^There is no tidemark\.config\.ts, .*\n$/);
    expect(code).toBe(1);
    expect(existsSync(join(folder, '.tidemark'))).toBe(false);
  });

  it('takes the name of another configuration, and reports that it does not exist', async () => {
    const { code, stderr } = await tidemark(['migrate', '--config', 'other.ts']);
    expect([code, stderr]).toEqual([1, `${join(folder, 'other.ts')} does not exist.\n`]);
  });

  it('reports that the database cannot be reached, without a stack', async () => {
    const { code, stderr } = await tidemark(['status'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(stderr).toMatch(/^Cannot reach the database: .*ECONNREFUSED.*\n$/);
    expect(code).toBe(1);
  });

  it('retries with serve for a while, and then reports that the database cannot be reached', async () => {
    const { code, stderr } = await tidemark(['serve'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
    expect(stderr).toMatch(
      /^(Cannot reach the database: .*ECONNREFUSED.*\. Trying again in \d s\.\n){5,8}Cannot reach the database: .*ECONNREFUSED.*\.\n$/,
    );
    expect(code).toBe(1);
  });
});

describe('commands on the Postgres at DATABASE_URL', () => {
  useDatabase();
  const run = runConfigured;

  it('take an empty database through migrate, serve and uninstall', async () => {
    const early = await run('serve');
    expect([early.code, early.stderr]).toEqual([
      1,
      'Tidemark is not installed in this database. Run `tidemark migrate`.\n',
    ]);
    const before = await run('status');
    expect(before.code).toBe(1);
    expect(before.stdout).toMatch(/Problems\n {2}Tidemark is not installed in this database\. Run `tidemark migrate`/);

    const migrated = await run('migrate');
    expect(migrated.stderr).toMatch(/applying 0001[\s\S]*capturing changes to public\.note\n.*refusal\nDone/);
    expect(migrated.code).toBe(0);
    expect((await run('migrate')).stderr).toBe('Nothing to do: the database is up to date.\n');

    const server = await serve({ DATABASE_URL: database.url });
    expect(await post(`${server.url}/sync/push`, push)).toEqual({ status: 200, body: {} });
    expect(await post(`${server.url}/sync/pull`, pull)).toMatchObject({ status: 200, body: { patch } });
    server.child.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, signal: null });

    const { code, stdout } = await run('status');
    expect(stdout).toMatch(/note +note\/\{\w+\} +incremental/);
    expect(stdout).toMatch(/latest +latest\/\{id\} +compare +it has LIMIT/);
    expect(stdout).toMatch(/note +captured +1 log row\b/);
    expect(stdout).toMatch(/Clients +1 in 1 client group\b/);
    expect(stdout).toMatch(/No problems found\.\n$/);
    expect(code).toBe(0);
    const json = JSON.parse((await run('status', '--json')).stdout);
    expect(json).toMatchObject({
      schema: { installed: json.schema.code },
      log: { clients: 1, clientGroups: 1, installID: expect.any(String) },
      tables: [
        { name: 'note', read: true, captured: true, logRows: 1 },
        { name: 'tidemark.refusal', read: true, captured: true, logRows: 0 },
      ],
      problems: [],
    });

    await database.pool.query('alter table note disable trigger tidemark_update');
    const broken = await run('status');
    expect(broken.stdout).toMatch(/NOT CAPTURED[\s\S]*Changes to note are not captured: .* Run `tidemark migrate`/);
    expect(broken.code).toBe(1);

    const secrets = async () =>
      (await database.pool.query('select secret, previous_secret from tidemark.meta')).rows[0];
    const { secret } = await secrets();
    expect(await run('rotate-secret')).toMatchObject({ code: 0, stderr: expect.stringMatching(/a new secret/) });
    expect(await secrets()).toEqual({ secret: expect.stringMatching(/^[\w-]{72}$/), previous_secret: secret });
    expect((await secrets()).secret).not.toBe(secret);

    const unconfirmed = await runHere(['uninstall']);
    expect(unconfirmed.stderr).toMatch(/To confirm, run it again with --yes/);
    expect(unconfirmed.code).toBe(1);
    expect((await runHere(['uninstall', '--yes'])).code).toBe(0);
    const { rows } = await database.pool.query(
      `select to_regnamespace('tidemark') as schema, (select body from note) as body`,
    );
    expect(rows).toEqual([{ schema: null, body: 'hello' }]);
  });

  it('refuse a schema that is newer than the code', async () => {
    await run('migrate');
    await database.pool.query(`insert into tidemark.migration (version, file) values (9999, '9999-later.sql')`);
    for (const command of ['migrate', 'serve', 'status']) {
      const { code, stdout, stderr } = await run(command);
      expect(stdout + stderr).toMatch(/has version 9999.*Deploy a newer Tidemark/);
      expect(code).toBe(1);
    }
  });

  it('name the view that cannot be served', async () => {
    const text = config.replace('order by id desc fetch first 1 rows with ties', 'and now() is not null');
    writeFileSync(join(folder, 'tidemark.config.ts'), text);
    const { code, stderr } = await run('migrate');
    expect(stderr).toMatch(/^The view "latest" cannot be served: it uses now\(\).*\n$/);
    expect(code).toBe(1);
    expect((await run('status')).stdout).toMatch(/latest +refused/);
  });
});
