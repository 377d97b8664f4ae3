/**
 * Postgres from npm, for development and small servers. It needs no setup, and keeps its data in a folder.
 *
 *   <directory>/postgres         the data
 *   <directory>/connection.json  port and password (mode 0600)
 *   <directory>/postgres.log     the output of Postgres and its tools; renamed to postgres.log.1 at 10 MB
 *   <directory>/lock-*           the process that holds the lock
 *   <directory>/binaries         a copy of the programs, if those in node_modules cannot be used
 *
 * If Postgres ends unexpectedly, it restarts on the same port, at most five times in a row without a minute of uptime.
 *
 * If this process ends without `stop()`, a small guard (`sh`) stops the server within moments. Without the guard (on
 * Windows, without `sh`, or if it is killed too), the server keeps running until the next start on the folder, which
 * stops it first.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { prepareBinaries } from './binaries.js';
import { createCluster, majorOf, removeDrafts, resetPassword } from './cluster.js';
import { addressOf, choosePort, connectionFile, readConnection, saveConnection } from './connection.js';
import { lockFolder } from './lock.js';
import type { Log } from './log.js';
import { errorCode } from './processes.js';
import { endLeftover, type Programs, ServerFailure, startServer } from './server.js';
import { SetupError } from './setup-error.js';
import { supervise } from './supervise.js';
import { chooseServerUser } from './user.js';

/** A running database. */
export interface EmbeddedDatabase {
  /** The connection string, with the password. It works in psql too. */
  readonly url: string;
  readonly dataDirectory: string;
  /** The file that holds the password. */
  readonly connectionFile: string;
  /** Resolves with the reason if Postgres has ended and cannot be restarted. */
  readonly lost: Promise<Error>;
  /** Disconnects all clients, shuts down the server and unlocks the folder. Further calls have no effect. */
  stop(): Promise<void>;
}

/** The options of `startEmbedded`. */
export interface EmbeddedOptions {
  /** The folder; the data is in `<directory>/postgres`. Default `.tidemark` in the working directory. */
  directory?: string | undefined;
  /** The TCP port on 127.0.0.1. Default: the port that the first start stored in the folder, or else a free one. */
  port?: number | undefined;
  /** The folder of the npm package with the binaries. Default: the optional dependency for this platform. */
  binaries?: string | undefined;
  /** Server settings, for example `{ fsync: 'off' }`. Default: none. */
  settings?: Record<string, string> | undefined;
  /** Logs each notable event. Default: no log. */
  log?: Log | undefined;
}

/**
 * Starts the database of a folder, and creates it at the first start.
 * @throws SetupError if it cannot: no binaries for this platform, the folder in use, the port taken, or a failure of
 * Postgres itself.
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
  const { log = { info() {}, warn() {} }, settings = {} } = options;
  const data = join(directory, 'postgres');
  const user = chooseServerUser(data);
  const { native, major } = prepareBinaries(options.binaries, directory, user);
  const programs = { native, user, logFile: join(directory, 'postgres.log') };
  const storedConnection = readConnection(directory);
  const password = storedConnection?.password ?? randomBytes(24).toString('base64url');
  const start: Start = {
    programs,
    major,
    data,
    password,
    isPasswordNew: storedConnection === undefined,
    settings,
    log,
  };
  await prepareData(start);
  const { server, port } = await startOnPort(start, options.port, storedConnection?.port);
  const again = async (signal: AbortSignal) => {
    await endLeftover(programs, data, log);
    return (await startOnPort(start, port, port, signal)).server;
  };
  const supervision = supervise(server, { programs, data, start: again, log });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= supervision.stop().finally(release);
    return stopped;
  };
  try {
    if (storedConnection === undefined) saveConnection(directory, { port, password });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: addressOf({ port, password }),
    dataDirectory: data,
    connectionFile: connectionFile(directory),
    lost: supervision.lost,
    stop,
  };
}

interface Start {
  readonly programs: Programs;
  readonly major: number;
  readonly data: string;
  readonly password: string;
  readonly isPasswordNew: boolean;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: Pick<Log, 'info'>;
}

/** Ensures that the data exists, has the right version and this password, and that no server is running on it. */
async function prepareData({ programs, major, data, password, isPasswordNew, settings, log }: Start): Promise<void> {
  removeDrafts(data);
  const dataMajor = majorOf(data);
  if (dataMajor === undefined) {
    log.info({}, `Creating a Postgres ${major} database in ${data}.`);
    return createCluster(programs, major, data, password, settings.fsync !== 'off');
  }
  if (dataMajor !== major) throw new SetupError(otherVersion(data, dataMajor, major));
  await endLeftover(programs, data, log);
  if (isPasswordNew) await resetPassword(programs, data, password);
}

/** Retries after transient failures: backends that briefly outlive a killed server, or a port lost in a race. */
async function startOnPort(
  { programs, data, settings, log }: Start,
  requestedPort: number | undefined,
  storedPort: number | undefined,
  signal?: AbortSignal,
): Promise<{ server: ChildProcess; port: number }> {
  for (const limit = Date.now() + 10_000; ; await delay(100)) {
    const port = await choosePort(requestedPort, storedPort, log);
    const fixed = { listen_addresses: '127.0.0.1', port: String(port), unix_socket_directories: '' };
    try {
      return { port, server: await startServer(programs, data, { ...settings, ...fixed }, signal) };
    } catch (error) {
      const passes = error instanceof ServerFailure && /shared memory block|Address already in use/.test(error.message);
      if (!passes || Date.now() > limit || signal?.aborted) throw error;
    }
  }
}

/** Creates the folder if needed; a `.gitignore` then keeps data and password out of the user's repository. */
function makeFolder(directory: string): void {
  const isNew = mkdirSync(directory, { recursive: true }) !== undefined;
  if (isNew) writeFileSync(join(directory, '.gitignore'), '*\n');
}

function otherVersion(data: string, dataMajor: number, major: number): string {
  return (
    `The data in ${data} is from Postgres ${dataMajor}, but the installed binaries are Postgres ${major}. ` +
    'Move the folder away to start over, or transfer the data with pg_dump from the older version.'
  );
}

function explained(error: unknown, directory: string): unknown {
  if (!(error instanceof Error) || !['EACCES', 'EPERM', 'EROFS', 'EINVAL'].includes(errorCode(error) ?? '')) {
    return error;
  }
  const advice = `The embedded database cannot use ${directory}. Does the folder belong to another user?`;
  return new SetupError(`${advice} Choose another folder, or set DATABASE_URL. (${error.message})`, { cause: error });
}
