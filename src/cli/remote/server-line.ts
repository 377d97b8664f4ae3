/** Where a running server is, and who asks, as given on the command line or in the environment. */
import { toPathSegment } from '../../protocol/path-segment.js';
import { UsageError } from '../terminal.js';

/** The options of all commands that ask a running server. They take precedence over the environment. */
export interface ServerOptions {
  readonly url?: string;
  readonly token?: string;
  readonly timeout: string;
}

/** Node's fetch (undici) gives up on its own after this many seconds. */
const longestTimeout = 300;

/**
 * The URL of what is below the server's own, by the segments of its path; `TIDEMARK_URL` if there is no option.
 * @throws UsageError. Its message repeats none of the values: they may be secrets.
 */
export function serverURL({ url: given }: ServerOptions, segments: readonly string[], env: NodeJS.ProcessEnv): URL {
  const base = given ?? (env.TIDEMARK_URL || 'http://localhost:3000');
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
 * The header that says who asks; none without a token.
 * @throws UsageError
 */
export function authorization({ token: given }: ServerOptions, env: NodeJS.ProcessEnv): Record<string, string> {
  const token = given ?? (env.TIDEMARK_TOKEN || undefined);
  return token === undefined ? {} : { Authorization: `Bearer ${sendable(token, '--token')}` };
}

/** @throws UsageError */
export function sendable(value: string, option: string): string {
  const text = value.trim();
  if (!/^[\x20-\x7e]+$/.test(text)) throw new UsageError(`The value of ${option} cannot be sent in a header`);
  return text;
}

/** @throws UsageError */
export function secondsOf({ timeout }: ServerOptions): number {
  const seconds = Number(timeout);
  if (!(seconds > 0 && seconds <= longestTimeout)) {
    throw new UsageError(`--timeout must be more than 0 and at most ${longestTimeout} seconds`);
  }
  return seconds;
}
