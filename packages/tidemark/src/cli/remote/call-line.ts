/** Parses the command line of `tidemark call`. */

import { UsageError } from '../terminal.js';
import { authorization, type ServerOptions, secondsOf, sendable, serverURL } from './server-line.js';

/** The request that `tidemark call` sends. */
export interface CallLine {
  readonly url: URL;
  /** JSON text, not checked yet; `-` means standard input. */
  readonly args: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
}

/** The options of `tidemark call`, as given on the command line. */
export interface CallOptions extends ServerOptions {
  readonly idempotencyKey?: string;
  readonly dryRun?: boolean;
}

/**
 * Builds the request. Options take precedence over `TIDEMARK_URL` and `TIDEMARK_TOKEN`.
 * @throws UsageError. Its message contains none of the values, because they may be secrets.
 */
export function readCallLine(
  name: string,
  args: string | undefined,
  options: CallOptions,
  env: NodeJS.ProcessEnv = process.env,
): CallLine {
  const key = options.idempotencyKey;
  const segments = name.split('.');
  if (segments.includes('')) throw new UsageError('The mutator name must look like todo.create');
  return {
    url: serverURL(options, ['mutators', ...segments], env),
    args,
    headers: {
      ...(args !== undefined && { 'Content-Type': 'application/json' }),
      ...authorization(options, env),
      ...(key !== undefined && { 'Idempotency-Key': sendable(key, '--idempotency-key') }),
      ...(options.dryRun && { Prefer: 'tx=rollback' }),
    },
    timeoutSeconds: secondsOf(options),
  };
}
