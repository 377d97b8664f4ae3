import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { isRunning, isServerOf, readPostmaster } from '../../../packages/embedded-postgres/src/processes.js';
import { type EmbeddedDatabase, startEmbedded } from '../../../packages/embedded-postgres/src/start.js';
import { memoryLog } from '../../support/log.js';

let directory: string;
let database: EmbeddedDatabase;
let logged: ReturnType<typeof memoryLog>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-restarts-'));
  logged = memoryLog();
  database = await startEmbedded({ directory, settings: { fsync: 'off' }, log: logged.log });
});
afterEach(async () => {
  await database.stop();
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const pidOf = () => readPostmaster(database.dataDirectory)!.pid;

/** The guards of a Postgres: processes whose last argument is its process ID. */
function guardsOf(pid: number): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').endsWith(`\0${pid}\0`);
    } catch {
      return false;
    }
  });
}

async function query(sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Kills Postgres, and returns its process ID. */
function kill(): number {
  const pid = pidOf();
  process.kill(pid, 'SIGKILL');
  return pid;
}

const back = () => vi.waitFor(() => query('select 1'), { timeout: 30_000, interval: 100 });

it('Postgres is restarted each time that it is killed, with its data, port and guard', async () => {
  await query('create table note (id int)');
  const killed: number[] = [];
  for (const id of [1, 2]) {
    await query(`insert into note values (${id})`);
    killed.push(kill());
    await vi.waitFor(() => expect(logged.lines).toHaveLength(1 + id));
    await back();
  }
  expect(await query('select id from note order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  expect(logged.lines.slice(1)).toMatchObject([
    {
      level: 'warn',
      message: expect.stringMatching(
        /^Postgres ended by itself \(signal SIGKILL\): see .*\nStarting Postgres again\.$/,
      ),
    },
    { level: 'warn', message: expect.stringMatching(/\nStarting Postgres again in 1 s\.$/) },
  ]);
  const pid = pidOf();
  if (process.platform === 'linux') {
    expect(guardsOf(pid)).toHaveLength(1);
    for (const gone of killed) expect(guardsOf(gone)).toEqual([]);
  }
  await database.stop();
  expect(isRunning(pid)).toBe(false);
  expect(readdirSync(directory).sort()).toEqual(['connection.json', 'postgres', 'postgres.log']);
});

it.each([0, 20, 100, 300])('stop() leaves nothing behind %d ms after a kill', async (ms) => {
  kill();
  await new Promise((resolve) => setTimeout(resolve, ms));
  await database.stop();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  // A server that is stopped while it starts may leave the file, which then names this process.
  const left = readPostmaster(database.dataDirectory)?.pid;
  expect(left !== undefined && isServerOf(left, database.dataDirectory)).toBe(false);
  expect(readdirSync(directory).sort()).toEqual(['connection.json', 'postgres', 'postgres.log']);
  database = await startEmbedded({ directory, settings: { fsync: 'off' } });
  await query('select 1');
});

it('Postgres that cannot be started again is given up, and its own reasons are reported', async () => {
  const aside = `${database.dataDirectory}/global-aside`;
  renameSync(join(database.dataDirectory, 'global'), aside);
  kill();
  const reason = await database.lost;
  expect(reason.message).toMatch(
    /^Postgres was given up after 5 attempts to start it again\. Postgres did not start: /,
  );
  expect(reason.message).toMatch(/global\/pg_control/);
  expect(logged.lines.filter(({ level }) => level === 'warn')).toHaveLength(5);
  renameSync(aside, join(database.dataDirectory, 'global'));
  await database.stop();
  database = await startEmbedded({ directory, settings: { fsync: 'off' } });
  await query('select 1');
});
