import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { livingPostgres } from '../process.js';
import { folder, patch, post, pull, push, serve, tidemark, useFolder } from './commands.js';

useFolder();

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
