import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { livingPostgres } from '../../support/process.js';
import { folder, patch, post, pull, push, serve, tidemark, useFolder } from './commands.js';

useFolder();

describe('the embedded Postgres', () => {
  const pidOf = (data: string) => livingPostgres(join(data, 'postgres'));

  it('is not created by status, doctor or uninstall', async () => {
    for (const args of [['status'], ['doctor'], ['uninstall', '--yes']]) {
      const { code, stderr } = await tidemark(args);
      expect(stderr).toMatch(/DATABASE_URL is not set, and there is no embedded database/);
      expect(code).toBe(1);
    }
    expect(existsSync(join(folder, '.tidemark'))).toBe(false);
  });

  it('serves without any setup, keeps its data, and leaves no process behind', async () => {
    const data = join(folder, '.tidemark');
    const server = await serve();
    expect(pidOf(data)).toBeDefined();
    expect(await post(`${server.url}/sync/push`, push)).toEqual({ status: 200, body: {} });
    server.child.kill('SIGTERM');
    const { code, stdout, stderr } = await server.ended;
    expect(code).toBe(0);
    const { password } = JSON.parse(readFileSync(join(data, 'connection.json'), 'utf8'));
    expect(stderr).toMatch(/Embedded Postgres: postgres:\/\/postgres@.*connection\.json/);
    expect(stdout + stderr).not.toContain(password);
    expect(pidOf(data)).toBeUndefined();

    const again = await serve();
    expect(await post(`${again.url}/sync/pull`, pull)).toMatchObject({ status: 200, body: { patch } });
    const second = await tidemark(['serve'], { PORT: '0' });
    expect([second.code, second.stderr]).toEqual([1, expect.stringMatching(/is in use by process \d+/)]);
    again.child.kill('SIGINT');
    expect((await again.ended).code).toBe(0);

    expect((await tidemark(['status'])).stdout).toMatch(/No problems found/);
    const healthy = await tidemark(['doctor', '--strict']);
    expect(healthy.stdout).toMatch(/^INFO {2}view-compared[\s\S]*\nFound 0 errors, 0 warnings, 1 note\.\n$/);
    expect(healthy.code).toBe(0);
    const risky = { PGOPTIONS: '-c synchronous_commit=off' };
    const warned = await tidemark(['doctor'], risky);
    expect([warned.code, warned.stdout]).toEqual([0, expect.stringMatching(/^WARNING {2}synchronous-commit-off/)]);
    expect((await tidemark(['doctor', '--strict'], risky)).code).toBe(1);
    expect((await tidemark(['uninstall', '--yes'])).code).toBe(0);
    expect((await tidemark(['status'])).code).toBe(1);
    expect(pidOf(data)).toBeUndefined();
  });

  it('can be inspected and migrated beside the server that runs it, on any port, and keeps running', async () => {
    const data = join(folder, '.tidemark');
    const first = await serve();
    first.child.kill('SIGTERM');
    await first.ended;
    const connection = JSON.parse(readFileSync(join(data, 'connection.json'), 'utf8'));
    // The port is in use when the server restarts, so its database uses another one.
    const taken = createServer().listen(connection.port, '127.0.0.1');
    await once(taken, 'listening');
    const server = await serve();
    const postgres = pidOf(data);
    for (const [args, printed] of [
      [['status'], /captured[\s\S]*No problems found/],
      [['doctor', '--strict'], /Found 0 errors/],
    ] as const) {
      const { code, stdout, stderr } = await tidemark(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(printed);
    }
    const migrated = await tidemark(['migrate']);
    expect([migrated.code, migrated.stderr]).toEqual([0, 'Nothing to do: the database is up to date.\n']);
    expect(await post(`${server.url}/sync/push`, push)).toEqual({ status: 200, body: {} });
    expect(pidOf(data)).toBe(postgres);
    server.child.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
    taken.close();

    expect((await tidemark(['status'])).code).toBe(0);
    expect(pidOf(data)).toBeUndefined();
  });

  /** Kills Postgres by its process ID, and waits until the server answers pulls again. */
  async function killPostgres({ url, printed }: Awaited<ReturnType<typeof serve>>, time: number): Promise<void> {
    const data = join(folder, '.tidemark');
    const statuses = new Set<number>();
    const killed = pidOf(data)!;
    process.kill(killed, 'SIGKILL');
    await printed(
      new RegExp(`(Postgres ended by itself \\(signal SIGKILL\\).*\\nStarting Postgres again[^]*){${time}}`),
    );
    const pulled = async () => (await post(`${url}/sync/pull`, pull)).status;
    for (const limit = Date.now() + 60_000; pidOf(data) === killed || (await pulled()) !== 200; await sleep(20)) {
      statuses.add(await pulled());
      if (Date.now() > limit) throw new Error(`Pulls are not answered: ${[...statuses]}`);
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await post(`${url}/sync/pull`, pull)).toMatchObject({ status: 200, body: { patch } });
  }

  it.each([
    { process: 'one process', options: [] },
    { process: 'workers', options: ['--workers', '2'] },
  ])('is started again by $process on the same port each time that it is killed', async ({ options }) => {
    const server = await serve({}, ...options);
    expect(await post(`${server.url}/sync/push`, push)).toEqual({ status: 200, body: {} });
    for (const time of [1, 2]) await killPostgres(server, time);
    server.child.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });

  it('leads to 503 while it cannot be started again, and then the server ends with the reason', async () => {
    const data = join(folder, '.tidemark');
    const server = await serve();
    const pulled = async () => (await post(`${server.url}/sync/pull`, pull)).status;
    renameSync(join(data, 'postgres/global'), join(data, 'postgres/elsewhere'));
    process.kill(pidOf(data)!, 'SIGKILL');
    await server.printed(/Starting Postgres again in 30 s/);
    expect(await pulled()).toBe(503);
    const { code, stdout } = await server.ended;
    expect(code).toBe(1);
    const errors = stdout.split('\n').filter((line) => line.includes('"level":50'));
    expect(errors).toEqual([
      expect.stringMatching(/Postgres was given up after 5 attempts to start it again.*The service cannot go on/),
    ]);
    expect(readdirSync(data).filter((name) => name.startsWith('lock-'))).toEqual([]);
  }, 600_000);

  it('keeps its data in TIDEMARK_DATA, and stops if the port of the server is taken', async () => {
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
