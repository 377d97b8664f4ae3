import { tmpdir } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bin } from '../../support/built.js';
import { freePort, start } from '../../support/process.js';
import { startServer, type TestServer } from '../conformance/server.js';
import { runHere } from './command-line.js';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server?.close();
});
beforeEach(async () => {
  vi.stubEnv('TIDEMARK_URL', server.url);
  vi.stubEnv('TIDEMARK_TOKEN', 'ann');
  await server.pool.query(`
    truncate list cascade;
    insert into list (id, owner_id, name) values ('a', 'ann', 'A'), ('b/c', 'ann', 'B\u001b[2J'), ('x', 'ben', 'canary')`);
});

/** Runs `tidemark pull`. */
const pull = (...args: string[]) => runHere(['pull', ...args]);
const a = { id: 'a', name: 'A', ownerID: 'ann' };
const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

describe('tidemark pull', () => {
  it('prints the rows of a view, one on each line', async () => {
    const { code, stdout, stderr } = await pull('list');
    expect([code, stderr]).toEqual([0, '']);
    expect(linesOf(stdout)).toEqual([a, { id: 'b/c', name: 'B\u001b[2J', ownerID: 'ann' }]);
    expect(stdout).not.toContain('\u001b');
    expect(await pull('todo')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(linesOf((await pull('list', '--token', 'ben')).stdout)).toMatchObject([{ id: 'x' }]);
  });

  it('prints one row, found by its key', async () => {
    expect((await pull('list', 'a')).stdout).toBe(`${JSON.stringify({ id: 'a', name: 'A', ownerID: 'ann' })}\n`);
    expect(linesOf((await pull('list', 'b/c')).stdout)).toMatchObject([{ id: 'b/c' }]);
  });

  it.each(['', '.', '..', '~', '%2E%2E'])('prints the row with the key "%s"', async (id) => {
    await server.pool.query('update list set id = $1 where id = $2', [id, 'a']);
    expect(linesOf((await pull('list', id)).stdout)).toEqual([{ ...a, id }]);
    expect(await pull('list', `${id}?`)).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown-key') });
  });

  it('requests no other path for a view named ..', async () => {
    expect(await pull('..')).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown-view') });
  });

  it('prints the changes since a cookie', async () => {
    const [{ cookie, patch }] = linesOf((await pull('list', '--since', '')).stdout.replaceAll('\n', ' ')) as [
      { cookie: string; patch: unknown[] },
    ];
    expect(patch).toHaveLength(3);
    await server.pool.query(`delete from list where id = 'a'`);
    expect(linesOf((await pull('list', '--since', cookie)).stdout.replaceAll('\n', ' '))).toEqual([
      { cookie: expect.any(String), patch: [{ op: 'del', key: 'list/a' }] },
    ]);
  });

  it('reports why it fails', async () => {
    expect(await pull('nothing')).toMatchObject({
      code: 1, stdout: '', stderr: 'There is no view of this name (404, unknown-view)\n',
    }); // biome-ignore format: short
    expect(await pull('list', 'nothing')).toMatchObject({ code: 1, stderr: expect.stringContaining('unknown-key') });
    expect(await pull('nothing', '--follow')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('unknown-view'),
    });
    vi.stubEnv('TIDEMARK_TOKEN', '');
    expect(await pull('list')).toMatchObject({ code: 1, stderr: expect.stringContaining('unauthenticated') });
    vi.stubEnv('TIDEMARK_URL', `http://127.0.0.1:${await freePort()}`);
    for (const more of [[], ['--follow']]) {
      expect(await pull('list', ...more)).toMatchObject({ code: 3, stderr: expect.stringContaining('Cannot reach') });
    }
    expect(await pull('')).toMatchObject({ code: 2 });
    expect(await pull('list', '--timeout', '0')).toMatchObject({ code: 2 });
  });

  it('follows a view across a restart of the server', async () => {
    const following = start(bin, ['pull', 'list', '--follow'], {
      cwd: tmpdir(),
      env: { TIDEMARK_URL: server.url, TIDEMARK_TOKEN: 'ann' },
    });
    try {
      await following.printed(/"key":"list\/a"/);
      await server.pool.query(`update list set name = 'second' where id = 'a'`);
      await following.printed(/"name":"second"/);
      await server.stop();
      await server.start();
      await server.pool.query(`update list set name = 'third' where id = 'a'`);
      const [, line] = await following.printed(/\n([^\n]*"name":"third"[^\n]*)\n/);
      expect(JSON.parse(line!)).toEqual({
        cookie: expect.any(String),
        patch: [{ op: 'put', key: 'list/a', value: { ...a, name: 'third' } }],
      });
    } finally {
      following.child.kill();
      await following.ended;
    }
  });
});
