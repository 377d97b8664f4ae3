/** `tidemark serve --workers`: real processes, under load. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { silent } from '../../support/log.js';
import { database, folder, serve, tidemark, useDatabase, useFolder } from '../cli/commands.js';
import { answering, call, hung, Load } from './load.js';

const config = `
import { setTimeout as sleep } from 'node:timers/promises';
import { defineConfig, defineMutator, defineMutators } from 'tidemark';

export default defineConfig({
  views: {},
  mutators: defineMutators({
    pid: defineMutator(() => process.pid),
    slow: defineMutator(async () => {
      await sleep(2_000);
      return process.pid;
    }),
  }),
  authenticate: () => ({ userID: 'ann' }),
  metrics: 'public',
  rates: { perUser: 1e9 },
});
`;

useFolder();
useDatabase();
beforeAll(() => migrate({ database: database.url, views: {}, log: silent }));

const clients = { keepAlive: 3, fresh: 3 };

const fileOf = () => join(folder, 'tidemark.config.ts');

/** Starts two workers, and clients that call them. Resolves when both workers have responded. */
async function serveTwo() {
  const file = fileOf();
  writeFileSync(file, config);
  const server = await serve({ DATABASE_URL: database.url }, '--workers', '2');
  const load = new Load(`${server.url}/api/mutators/pid`, clients);
  const pids = await answering(load, 2);
  const metric = async (name: string) => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length),
    );
  };
  return { ...server, file, load, pids, metric };
}

const answered = 'tidemark_request_duration_seconds_count{route="/api/mutators/*",status="200"}';

describe('two workers', () => {
  it('are restarted when they are killed, and only requests of killed workers fail', async () => {
    const { load, pids, metric, child, ended } = await serveTwo();
    const victims: { pid: number; at: number }[] = [];
    const kill = (pid: number) => {
      process.kill(pid, 'SIGKILL');
      victims.push({ pid, at: performance.now() });
    };
    const before = await metric(answered);
    expect(before).toBeGreaterThan(0);
    kill(pids[1]!);
    const others = await answering(load, 2);
    expect(others).toContain(pids[0]);
    expect(others).not.toContain(pids[1]);
    expect(await metric(answered)).toBeGreaterThan(before);

    for (const pid of others) kill(pid);
    const last = await answering(load, 2);
    expect(last.filter((pid) => others.includes(pid))).toEqual([]);
    await load.end();
    // A call may only fail if its connection, or its response, was that of a killed process.
    const isExcused = ({ outcome, over, started }: (typeof load.calls)[number]) =>
      outcome !== hung && victims.some(({ pid, at }) => (over === undefined ? started < at : over === pid));
    expect(load.failed.filter((one) => !isExcused(one))).toEqual([]);
    expect(load.failed.length).toBeLessThanOrEqual(2 * (clients.keepAlive + clients.fresh));

    child.kill('SIGTERM');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout.match(/A worker ended by itself \(signal SIGKILL\)/g)).toHaveLength(3);
  });

  it('are replaced at SIGHUP without a failed request, and keep serving if they cannot be replaced', async () => {
    const { url, file, load, pids, metric, child, printed } = await serveTwo();
    const checks = new Set<number | string>();
    let isChecking = true;
    const agent = new Agent({ keepAlive: true });
    const checking = (async () => {
      for (; isChecking; await sleep(20)) checks.add((await call(`${url}/readyz`, agent, 'GET')).outcome);
    })();
    child.kill('SIGHUP');
    await printed(/All workers have been replaced/);
    const replaced = await answering(load, 2);
    expect(replaced.filter((pid) => pids.includes(pid))).toEqual([]);

    writeFileSync(file, 'export default 1;');
    child.kill('SIGHUP');
    await printed(/has no default export.*Worker 1 could not be replaced\. The workers that serve go on\./);
    expect((await answering(load, 2)).toSorted()).toEqual(replaced.toSorted());
    isChecking = false;
    await Promise.all([load.end(), checking]);
    agent.destroy();
    expect(load.failed).toEqual([]);
    expect([...checks]).toEqual([200]);
    expect(await metric(answered)).toBe(load.calls.length);
  });

  it('answer pending requests before they stop', async () => {
    const { url, load, pids, child, ended } = await serveTwo();
    // As many as one worker runs at the same time. They need not be distributed evenly.
    const slow = Array.from({ length: 4 }, () => call(`${url}/api/mutators/slow`, new Agent()));
    await vi.waitFor(async () => {
      const { rowCount } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
      );
      expect(rowCount).toBe(4);
    });
    child.kill('SIGTERM');
    await load.end();
    const outcomes = (await Promise.all(slow)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(outcomes.map(() => 200));
    expect(load.failed).toEqual([]);
    expect(await ended).toMatchObject({ code: 0, signal: null });
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('the command', () => {
  const env = () => ({ DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1' });

  it('ends as it does without workers if the first worker cannot start', async () => {
    const views = "views: { lost: { key: ['id'], query: () => ({ text: 'select id from lost', values: [] }) } }";
    writeFileSync(fileOf(), config.replace('views: {}', views));
    const [alone, withWorkers] = [await tidemark(['serve'], env()), await tidemark(['serve', '--workers', '2'], env())];
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringMatching(/The view "lost" cannot be served/) });
    expect(withWorkers).toEqual(alone);
  });

  it('ends if the port is in use', async () => {
    writeFileSync(fileOf(), config);
    const { url } = await serve({ DATABASE_URL: database.url });
    const { code, stderr } = await tidemark(['serve', '--workers', '2'], { ...env(), PORT: new URL(url).port });
    expect(stderr).toMatch(/EADDRINUSE.*set PORT to another port/);
    expect(code).toBe(1);
  });

  it('starts workers that collect garbage with one thread', async () => {
    writeFileSync(fileOf(), config);
    const { url } = await serve({ DATABASE_URL: database.url }, '--workers', '1');
    const { pid } = await call(`${url}/api/mutators/pid`, new Agent());
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain('\0--v8-pool-size=1\0');
  });

  it('leaves no worker behind when it is killed itself', async () => {
    writeFileSync(fileOf(), config);
    const { url, child, ended } = await serve({ DATABASE_URL: database.url }, '--workers', '1');
    const { pid } = await call(`${url}/api/mutators/pid`, new Agent());
    child.kill('SIGKILL');
    await ended;
    await vi.waitFor(() => expect(() => process.kill(pid!, 0)).toThrow('ESRCH'));
  });

  it('starts one embedded Postgres for all workers, and stops it after them', async () => {
    const server = await serve({}, '--workers', '2');
    const file = join(folder, '.tidemark/postgres/postmaster.pid');
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    server.child.kill('SIGTERM');
    const { code, stderr } = await server.ended;
    expect(stderr.match(/Embedded Postgres: /g)).toHaveLength(1);
    expect(code).toBe(0);
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
