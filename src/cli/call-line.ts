/** What the command line of `tidemark call` says. */
import { parseArgs } from 'node:util';
import { UsageError } from './say.js';

export interface CallLine {
  readonly url: URL;
  /** JSON text, still unchecked; `-` stands for standard input. */
  readonly args: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

/** undici gives up by itself after this many seconds. */
const longestTimeout = 300;

/**
 * Reads the command line after `tidemark call`, every value as the text that it is: the parser of the other commands would
 * make numbers of what looks like one. Null when it asks for help.
 * @throws UsageError, which holds none of the values: they may be secrets.
 */
export function readCallLine(line: readonly string[], env: NodeJS.ProcessEnv = process.env): CallLine | null {
  const { values, positionals } = parse(line);
  if (values.help) return null;
  const [name, args, ...others] = positionals.map((text) => text.replace(/^ (?=-\d)/, ''));
  if (name === undefined) throw new UsageError('call needs the name of a mutator');
  if (others.length > 0) throw new UsageError('call takes a name and args, and no more: quote the JSON');
  const token = values.token ?? (env.TIDEMARK_TOKEN || undefined);
  const key = values['idempotency-key'];
  return {
    url: urlOf(values.url ?? (env.TIDEMARK_URL || 'http://localhost:3000'), name),
    args,
    headers: {
      ...(args !== undefined && { 'Content-Type': 'application/json' }),
      ...(token !== undefined && { Authorization: `Bearer ${sendable(token, '--token')}` }),
      ...(key !== undefined && { 'Idempotency-Key': sendable(key, '--idempotency-key') }),
      ...(values['dry-run'] && { Prefer: 'tx=rollback' }),
    },
    timeoutSeconds: secondsOf(values.timeout ?? '30'),
  };
}

function parse(line: readonly string[]) {
  // A negative number is no option. Behind a space it is not taken for one.
  const args = line.map((arg) => (/^-\d/.test(arg) ? ` ${arg}` : arg));
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        token: { type: 'string' },
        'idempotency-key': { type: 'string' },
        'dry-run': { type: 'boolean' },
        timeout: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    // The first sentence names the option; the others are about Node's own ways.
    const [sentence] = (error as Error).message.split(/\.?\s*(?:\n|\. )/);
    throw new UsageError(sentence, { cause: error });
  }
}

function urlOf(base: string, name: string): URL {
  const segments = name.split('.');
  if (segments.includes('')) throw new UsageError('A mutator has a name like todo.create');
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError('The URL of the server looks like https://app.example.com');
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('The URL of the server holds a user name or a password; --token takes a token');
  }
  if (url.search !== '' || url.hash !== '') throw new UsageError('The URL of the server ends with its path');
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
    throw new UsageError(`--timeout takes seconds, more than 0 and at most ${longestTimeout}`);
  }
  return seconds;
}
