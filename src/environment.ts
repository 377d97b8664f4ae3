/** What the environment variables of a server say. An empty variable counts as one that is not set. */
import { startEmbedded } from './embedded/start.js';
import type { ForwardOptions } from './endpoints/forward.js';
import { SetupError } from './errors.js';
import { jsonLog, type Logger } from './log.js';

export interface OpenedDatabase {
  readonly url: string;
  /** Whether it is Postgres out of npm, started here. */
  readonly embedded: boolean;
  /** Stops the embedded database; does nothing to one of `DATABASE_URL`. */
  close(): Promise<void>;
}

export interface OpenDatabaseOptions {
  /** Where the embedded database keeps its data, unless `TIDEMARK_DATA` names a folder. Default `.tidemark`. */
  readonly directory?: string | undefined;
  /** Told of each notable event of the embedded database. Default: JSON on standard output. */
  readonly log?: Logger | undefined;
}

/** The folder of the embedded database: `TIDEMARK_DATA`, else the given one, else `.tidemark`. */
export function dataDirectory(otherwise = '.tidemark'): string {
  return variable('TIDEMARK_DATA') ?? otherwise;
}

/** The connection string in `DATABASE_URL`; undefined when there is none. */
export function databaseURL(): string | undefined {
  const url = variable('DATABASE_URL');
  // The value itself holds a password, and is not repeated.
  if (url !== undefined && !/^(postgres(ql)?|socket):/.test(url)) {
    throw new SetupError(
      'DATABASE_URL is not a connection string. It looks like postgres://user:password@host:5432/name.',
    );
  }
  return url;
}

/**
 * The Postgres of `DATABASE_URL`, else an embedded one, which this starts.
 * @throws SetupError when `DATABASE_URL` is no connection string, or the embedded database cannot start.
 */
export async function openDatabase(options: OpenDatabaseOptions = {}): Promise<OpenedDatabase> {
  const url = databaseURL();
  if (url !== undefined) return { url, embedded: false, close: async () => {} };
  const { log = jsonLog() } = options;
  const directory = dataDirectory(options.directory);
  const database = await startEmbedded({ directory, log: (message) => log.info({}, message) });
  return { url: database.url, embedded: true, close: () => database.stop() };
}

/**
 * Where pushes are forwarded to: `SYNC_MUTATE_URL`, with the key in `SYNC_MUTATE_API_KEY`. Undefined where they are
 * applied here.
 * @throws SetupError when the address is not one of HTTP.
 */
export function forwardFromEnvironment(): ForwardOptions | undefined {
  const url = variable('SYNC_MUTATE_URL');
  const apiKey = variable('SYNC_MUTATE_API_KEY');
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    throw new SetupError('SYNC_MUTATE_URL is not an address. It looks like https://app.example.com/sync/push.');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new SetupError('SYNC_MUTATE_URL holds a user name or a password. Put the key into SYNC_MUTATE_API_KEY.');
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new SetupError('SYNC_MUTATE_API_KEY cannot be sent in a header: it may hold printable ASCII without spaces.');
  }
  return { url, apiKey };
}

export interface ListenAddress {
  readonly port: number;
  readonly hostname?: string | undefined;
}

/**
 * Where to listen: `PORT` (default 3000) and `HOST` (default: the given one, else all addresses).
 * @throws SetupError when `PORT` is no port.
 */
export function addressFromEnvironment(defaultHost?: string): ListenAddress {
  const port = variable('PORT') ?? '3000';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new SetupError('PORT is not a port number from 0 to 65535.');
  }
  const hostname = variable('HOST') ?? defaultHost;
  return { port: Number(port), hostname };
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * A logger that writes JSON lines to standard output, from `LOG_LEVEL` on.
 * @throws SetupError when there is no such level.
 */
export function logFromEnvironment(defaultLevel = 'info'): Logger {
  const level = variable('LOG_LEVEL') ?? defaultLevel;
  if (!logLevels.includes(level)) throw new SetupError(`LOG_LEVEL is none of: ${logLevels.join(', ')}.`);
  return jsonLog(level);
}

function variable(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}
