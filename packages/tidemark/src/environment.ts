/** Reads the environment variables of a server. An empty variable counts as not set. */
import { untilReachable } from './db/reachable.js';
import { startEmbedded } from './embedded.js';
import type { ForwardOptions } from './endpoints/forward.js';
import { SetupError } from './errors.js';
import { explainFailure } from './failure.js';
import { jsonLog, type Logger, resolveLogger } from './log.js';

/** A database that `openDatabase` returns. */
export interface OpenedDatabase {
  /** The connection string. */
  readonly url: string;
  /** The connection strings of its standbys, for `readDatabase`. */
  readonly readURLs: readonly string[];
  /** True for the embedded Postgres from npm, which `openDatabase` starts. */
  readonly embedded: boolean;
  /** The file with the password of an embedded database. */
  readonly connectionFile?: string | undefined;
  /** Resolves with the reason if an embedded database has ended and cannot be restarted. */
  readonly lost: Promise<Error>;
  /** Stops an embedded database. Has no effect on the database in `DATABASE_URL`. */
  close(): Promise<void>;
}

/** The options of `openDatabase`. */
export interface OpenDatabaseOptions {
  /** The folder of the embedded database, unless `TIDEMARK_DATA` names one. Default `.tidemark`. */
  readonly directory?: string | undefined;
  /** Milliseconds to wait for the database in `DATABASE_URL` while it is unreachable. Default 30,000. */
  readonly waitMs?: number | undefined;
  /** Logs each notable event. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

/** Returns the folder of the embedded database: `TIDEMARK_DATA`, or else `otherwise`. */
export function dataDirectory(otherwise = '.tidemark'): string {
  return variable('TIDEMARK_DATA') ?? otherwise;
}

/**
 * Returns the connection string in `DATABASE_URL`; undefined if it is not set.
 * @throws SetupError if `DATABASE_URL` is not a connection string.
 */
export function databaseURL(): string | undefined {
  const url = variable('DATABASE_URL');
  if (url !== undefined) checkURL('DATABASE_URL', url);
  return url;
}

/** Splits `DATABASE_READ_URL` at commas and spaces into connection strings. */
function readURLs(): readonly string[] {
  const urls =
    variable('DATABASE_READ_URL')
      ?.trim()
      .split(/[\s,]+/) ?? [];
  for (const url of urls) checkURL('DATABASE_READ_URL', url);
  return urls;
}

/** @throws SetupError if `url` is not a connection string. The message omits it, because it contains a password. */
function checkURL(name: string, url: string): void {
  if (/^(postgres(ql)?|socket):/.test(url)) return;
  throw new SetupError(
    `${name} is not a connection string. It must look like postgres://user:password@host:5432/name.`,
  );
}

/**
 * Returns the Postgres in `DATABASE_URL`, as soon as it accepts connections. If the variable is not set, starts an
 * embedded Postgres.
 * @throws SetupError if `DATABASE_URL` or `DATABASE_READ_URL` is not usable, or the embedded database cannot start; the
 * driver's error if it cannot connect, immediately if the password is wrong or the database does not exist
 */
export async function openDatabase(options: OpenDatabaseOptions = {}): Promise<OpenedDatabase> {
  const url = databaseURL();
  const { waitMs = 30_000 } = options;
  const log = resolveLogger(options.log);
  if (url !== undefined) {
    await untilReachable(url, waitMs, (error, pauseMs) =>
      log.warn({}, `${explainFailure(error)} Trying again in ${pauseMs / 1_000} s.`),
    );
    return { url, readURLs: readURLs(), embedded: false, lost: new Promise(() => {}), close: async () => {} };
  }
  if (readURLs().length > 0) {
    throw new SetupError('DATABASE_READ_URL names standbys, but DATABASE_URL is not set. Set it to their primary.');
  }
  const directory = dataDirectory(options.directory);
  const { stop, ...database } = await startEmbedded({ directory, log });
  return { ...database, readURLs: [], embedded: true, close: stop };
}

/**
 * Returns the connection string of an embedded database, for printing. Omits the password unless the output is a
 * terminal, because other output often ends up in logs, which more people read.
 */
export function describeEmbedded({ url, connectionFile }: OpenedDatabase, isTerminal: boolean): string {
  if (isTerminal) return url;
  const { host, username, pathname } = new URL(url);
  return `postgres://${username}@${host}${pathname} (the password is in ${connectionFile})`;
}

/**
 * Returns where to forward pushes: `SYNC_MUTATE_URL`, with the key in `SYNC_MUTATE_API_KEY`. Returns undefined if
 * `SYNC_MUTATE_URL` is not set; this server then applies pushes itself.
 * @throws SetupError if the URL is not an HTTP URL or contains a user name or password, or if a header cannot carry the
 * key.
 */
export function forwardFromEnvironment(): ForwardOptions | undefined {
  const url = variable('SYNC_MUTATE_URL');
  const apiKey = variable('SYNC_MUTATE_API_KEY');
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    throw new SetupError('SYNC_MUTATE_URL is not an HTTP URL. It must look like https://app.example.com/sync/push.');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new SetupError('SYNC_MUTATE_URL contains a user name or password. Put the key in SYNC_MUTATE_API_KEY.');
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new SetupError('SYNC_MUTATE_API_KEY cannot be sent in a header: it must be printable ASCII without spaces.');
  }
  return { url, apiKey };
}

/** The address that a server listens on. */
export interface ListenAddress {
  /** The port; 0 takes any free one. */
  readonly port: number;
  /** The address; undefined means all addresses. */
  readonly hostname?: string | undefined;
}

/**
 * Returns the address to listen on: `PORT` (default 3000) and `HOST` (default: `defaultHost`, or else all addresses).
 * @throws SetupError if `PORT` is not a port number.
 */
export function addressFromEnvironment(defaultHost?: string): ListenAddress {
  const port = variable('PORT') ?? '3000';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new SetupError('PORT must be a number from 0 to 65535.');
  }
  const hostname = variable('HOST') ?? defaultHost;
  return { port: Number(port), hostname };
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * Returns a logger that writes JSON lines to standard output, from the level in `LOG_LEVEL` upwards.
 * @param defaultLevel the level if `LOG_LEVEL` is not set; default `info`
 * @throws SetupError if there is no such level.
 */
export function logFromEnvironment(defaultLevel = 'info'): Logger {
  const level = variable('LOG_LEVEL') ?? defaultLevel;
  if (!logLevels.includes(level)) throw new SetupError(`LOG_LEVEL must be one of: ${logLevels.join(', ')}.`);
  return jsonLog(level);
}

function variable(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}
