/** Reads the command line of `tidemark call`. */
import { UsageError } from './terminal.js';

/** What `tidemark call` sends, and where. */
export interface CallLine {
  readonly url: URL;
  /** JSON text, not checked yet; `-` means standard input. */
  readonly args: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

/** Node's fetch (undici) gives up on its own after this many seconds. */
const longestTimeout = 300;

/** The options of `tidemark call`, as given on the command line. */
export interface CallOptions {
  readonly url?: string;
  readonly token?: string;
  readonly idempotencyKey?: string;
  readonly dryRun?: boolean;
  readonly timeout: string;
}

/**
 * Works out what to send, and where. Options take precedence over `TIDEMARK_URL` and `TIDEMARK_TOKEN`.
 * @throws UsageError. Its message repeats none of the values: they may be secrets.
 */
export function readCallLine(
  name: string,
  args: string | undefined,
  options: CallOptions,
  env: NodeJS.ProcessEnv = process.env,
): CallLine {
  const token = options.token ?? (env.TIDEMARK_TOKEN || undefined);
  const key = options.idempotencyKey;
  return {
    url: urlOf(options.url ?? (env.TIDEMARK_URL || 'http://localhost:3000'), name),
    args,
    headers: {
      ...(args !== undefined && { 'Content-Type': 'application/json' }),
      ...(token !== undefined && { Authorization: `Bearer ${sendable(token, '--token')}` }),
      ...(key !== undefined && { 'Idempotency-Key': sendable(key, '--idempotency-key') }),
      ...(options.dryRun && { Prefer: 'tx=rollback' }),
    },
    timeoutSeconds: secondsOf(options.timeout),
  };
}

function urlOf(base: string, name: string): URL {
  const segments = name.split('.');
  if (segments.includes('')) throw new UsageError('The mutator name must look like todo.create');
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError('The server URL must look like https://app.example.com');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('The server URL must not contain a user name or password; use --token');
  }
  if (url.search !== '' || url.hash !== '') throw new UsageError('The server URL must not have a query or fragment');
  const path = segments.map(encodeURIComponent).join('/');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/mutators/${path}`;
  return url;
}

function sendable(value: string, option: string): string {
  const text = value.trim();
  if (!/^[\x20-\x7e]+$/.test(text)) throw new UsageError(`The value of ${option} cannot be sent in a header`);
  return text;
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= longestTimeout)) {
    throw new UsageError(`--timeout must be more than 0 and at most ${longestTimeout} seconds`);
  }
  return seconds;
}
