/** The URL of a running server and the caller's token, from the command line or the environment. */
import { toPathSegment } from '../../protocol/path-segment.js';
import { UsageError } from '../terminal.js';

/** The options of all commands that call a running server. They take precedence over the environment. */
export interface ServerOptions {
  readonly url?: string;
  readonly token?: string;
  readonly timeout: string;
}

/** Node's fetch (undici) itself times out after this many seconds. */
const maxTimeoutSeconds = 300;

/**
 * Returns the URL of a path below the server's `/api`. The server's URL is the option, or else `TIDEMARK_URL`.
 * @throws UsageError. Its message contains none of the values, because they may be secrets.
 */
export function serverURL({ url: option }: ServerOptions, segments: readonly string[], env: NodeJS.ProcessEnv): URL {
  const base = option ?? (env.TIDEMARK_URL || 'http://localhost:3000');
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError('The server URL must look like https://app.example.com');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('The server URL must not contain a user name or password; use --token');
  }
  if (url.search !== '' || url.hash !== '') throw new UsageError('The server URL must not have a query or fragment');
  const path = segments.map(toPathSegment).join('/');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/${path}`;
  return url;
}

/**
 * Returns the `Authorization` header; none without a token.
 * @throws UsageError if a header cannot carry the token
 */
export function authorization({ token: option }: ServerOptions, env: NodeJS.ProcessEnv): Record<string, string> {
  const token = option ?? (env.TIDEMARK_TOKEN || undefined);
  return token === undefined ? {} : { Authorization: `Bearer ${sendable(token, '--token')}` };
}

/** @throws UsageError if a header cannot carry the value */
export function sendable(value: string, option: string): string {
  const text = value.trim();
  if (!/^[\x20-\x7e]+$/.test(text)) throw new UsageError(`The value of ${option} cannot be sent in a header`);
  return text;
}

/** @throws UsageError if the timeout is out of range */
export function secondsOf({ timeout }: ServerOptions): number {
  const seconds = Number(timeout);
  if (!(seconds > 0 && seconds <= maxTimeoutSeconds)) {
    throw new UsageError(`--timeout must be more than 0 and at most ${maxTimeoutSeconds} seconds`);
  }
  return seconds;
}
