/**
 * Postgres out of npm, for development and small servers: starts by itself, keeps its data in a folder.
 *
 *   <directory>/postgres         the data
 *   <directory>/connection.json  port and password (mode 0600)
 *   <directory>/postgres.log     what Postgres and its tools say; put aside as postgres.log.1 at 10 MB
 *   <directory>/lock-*           the process that has the folder
 *   <directory>/binaries         a copy of the programs, if those in node_modules cannot be used
 *
 * When this process ends without `stop()`, a small guard (`sh`) stops the server within moments. Where the guard is
 * missing (Windows, no `sh`, or killed too), the server stays until the next start on the folder, which ends it first.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError } from '../errors.js';
import { prepareBinaries } from './binaries.js';
import { createCluster, majorOf, removeDrafts, resetPassword } from './cluster.js';
import { choosePort, keepConnection, readConnection } from './connection.js';
import { guardAgainstCrash } from './guard.js';
import { lockFolder } from './lock.js';
import { errorCode } from './processes.js';
import { endLeftover, type Installation, ServerFailure, startServer, stopServer } from './server.js';
import { chooseServerUser } from './user.js';

/** A running database. */
export interface EmbeddedDatabase {
  /** with the password; works in psql too */
  readonly url: string;
  readonly dataDirectory: string;
  /** Disconnects all clients, shuts the server down and gives the folder up. Calling it again changes nothing. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Folder that keeps the data; default `.tidemark` below the working directory. Data in `<directory>/postgres`. */
  directory?: string | undefined;
  /** TCP port on 127.0.0.1; default: the port kept in the folder from the first start, else a free one */
  port?: number | undefined;
  /** folder of the npm package with the binaries; default: the optional dependency for this platform */
  binaries?: string | undefined;
  /** server settings, e.g. `{ fsync: 'off' }` */
  settings?: Record<string, string> | undefined;
  /** called with each notable event, in a sentence */
  log?: ((message: string) => void) | undefined;
}

/**
 * Starts the database of a folder, making it at the first start.
 * @throws SetupError when it cannot: no binaries for this platform, folder in use, port taken, Postgres's own reasons.
 */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const directory = resolve(options.directory ?? '.tidemark');
  try {
    makeFolder(directory);
    const release = await lockFolder(directory);
    return await startLocked(directory, options, release).catch((error: unknown) => {
      release();
      throw error;
    });
  } catch (error) {
    throw explained(error, directory);
  }
}

async function startLocked(
  directory: string,
  options: EmbeddedOptions,
  release: () => void,
): Promise<EmbeddedDatabase> {
  const { log = () => {}, settings = {} } = options;
  const data = join(directory, 'postgres');
  const user = chooseServerUser(data);
  const { native, major } = prepareBinaries(options.binaries, directory, user);
  const installation = { native, user, logFile: join(directory, 'postgres.log') };
  const kept = readConnection(directory);
  const password = kept?.password ?? randomBytes(24).toString('base64url');
  const start: Start = { installation, major, data, password, isPasswordNew: kept === undefined, settings, log };
  await prepareData(start);
  const { server, port } = await startOnPort(start, options.port, kept?.port);
  const stop = stopper(start, server, release);
  try {
    if (kept === undefined) keepConnection(directory, { port, password });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/tidemark`, dataDirectory: data, stop };
}

interface Start {
  readonly installation: Installation;
  readonly major: number;
  readonly data: string;
  readonly password: string;
  readonly isPasswordNew: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: (message: string) => void;
}

/** Afterwards the data are there, of the right version, with this password, and no server runs on them. */
async function prepareData({
  installation,
  major,
  data,
  password,
  isPasswordNew,
  settings,
  log,
}: Start): Promise<void> {
  removeDrafts(data);
  const found = majorOf(data);
  if (found === undefined) {
    log(`Creating a Postgres ${major} database in ${data}.`);
    return createCluster(installation, major, data, password, settings.fsync !== 'off');
  }
  if (found !== major) throw new SetupError(otherVersion(data, found, major));
  await endLeftover(installation, data, log);
  if (isPasswordNew) await resetPassword(installation, data, password);
}

/** Tries again what passes by itself: backends that outlive a killed server for a moment, a port lost in a race. */
async function startOnPort(
  { installation, data, settings, log }: Start,
  wanted: number | undefined,
  kept: number | undefined,
): Promise<{ server: ChildProcess; port: number }> {
  for (const limit = Date.now() + 10_000; ; await delay(100)) {
    const port = await choosePort(wanted, kept, log);
    const fixed = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '' };
    try {
      return { port, server: await startServer(installation, data, { ...settings, ...fixed }) };
    } catch (error) {
      const passes = error instanceof ServerFailure && /shared memory block|Address already in use/.test(error.message);
      if (!passes || Date.now() > limit) throw error;
    }
  }
}

/** Guards the server from now on; neither server nor guard keeps this process from ending. */
function stopper({ installation, data, log }: Start, server: ChildProcess, release: () => void): () => Promise<void> {
  const dismissGuard = guardAgainstCrash(server, installation.user);
  let stopping: Promise<void> | undefined;
  server.unref();
  server.once('exit', (code, signal) => {
    dismissGuard();
    if (stopping === undefined) log(`Postgres ended (${signal ?? `exit code ${code}`}): see ${installation.logFile}.`);
  });
  return () => {
    stopping ??= stopServer(installation, data, server).finally(release);
    return stopping;
  };
}

/** In a folder made here, a `.gitignore` keeps data and password out of the user's repository. */
function makeFolder(directory: string): void {
  const isNew = mkdirSync(directory, { recursive: true }) !== undefined;
  if (isNew) writeFileSync(join(directory, '.gitignore'), '*\n');
}

function otherVersion(data: string, found: number, major: number): string {
  return (
    `The data in ${data} are of Postgres ${found}, but the installed binaries are Postgres ${major}. ` +
    'Move the folder away to start anew, or take the data over with pg_dump from the older version.'
  );
}

function explained(error: unknown, directory: string): unknown {
  if (!(error instanceof Error) || !['EACCES', 'EPERM', 'EROFS', 'EINVAL'].includes(errorCode(error) ?? ''))
    return error;
  const advice = `The embedded database cannot use ${directory} as it has to. Does the folder belong to another user?`;
  return new SetupError(`${advice} Choose another folder, or set DATABASE_URL. (${error.message})`, { cause: error });
}
