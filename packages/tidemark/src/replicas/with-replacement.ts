import type { UserContext } from '../context.js';
import { isTransient } from '../db/sqlstate.js';
import { orderOf } from '../protocol/cookie.js';
import type { Puller } from '../pulls/pull.js';
import { linesIn, type PatchResult, type ReplaceableStream } from '../pulls/pull-result.js';
import type { PatchStream } from '../pulls/reads/patch-stream.js';
import type { PullSession } from '../pulls/session.js';
import type { FallbackMetrics } from './fallback-metrics.js';

/** The primary, and what it replaces. */
export interface ReplacementOptions<Context extends UserContext> {
  readonly primary: Pick<Puller<Context>, 'pull'>;
  readonly session: PullSession<Context>;
  readonly metrics: FallbackMetrics;
}

/**
 * Returns a standby's patch that continues with a pull from the primary if the standby fails before the end. A `clear`
 * op discards what the client has received by then.
 */
export function withReplacement<Context extends UserContext>(
  patchResult: PatchResult,
  options: ReplacementOptions<Context>,
): PatchResult {
  const { more } = patchResult;
  if (!more) return patchResult;
  return { ...patchResult, firstChunks: [], more: new StreamWithReplacement(patchResult, more, options) };
}

/** The ops of a standby's patch, followed by those of the replacement if there is one. */
class StreamWithReplacement<Context extends UserContext> implements ReplaceableStream {
  readonly observation: PatchStream['observation'];
  readonly checksums: PatchStream['checksums'];
  readonly ops: AsyncIterator<Uint8Array>;
  readonly #more: PatchStream;
  readonly #options: ReplacementOptions<Context>;
  #replacement: PatchResult | undefined;

  constructor(patchResult: PatchResult, more: PatchStream, options: ReplacementOptions<Context>) {
    this.observation = more.observation;
    this.checksums = more.checksums;
    this.ops = this.#lines(patchResult);
    this.#more = more;
    this.#options = options;
  }

  get replacement(): PatchResult | undefined {
    return this.#replacement;
  }

  async close(): Promise<void> {
    await this.#more.close();
    await this.#replacement?.more?.close();
  }

  async *#lines(patchResult: PatchResult): AsyncGenerator<Uint8Array, undefined> {
    let hasBegun = false;
    try {
      for await (const bytes of wholeLines(linesIn(patchResult))) {
        yield bytes;
        hasBegun = true;
      }
      return undefined;
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
    yield Buffer.from(`${hasBegun ? ',' : ''}{"op":"clear"}\n`);
    this.#replacement = await pullEverything(this.#options);
    let comma = ',';
    for await (const bytes of linesIn(this.#replacement)) {
      yield Buffer.concat([Buffer.from(comma), bytes]);
      comma = '';
    }
    return undefined;
  }
}

/** Pulls all data from the primary. The new cookie's order is higher than that of the request's. */
async function pullEverything<Context extends UserContext>({
  primary,
  session,
  metrics,
}: ReplacementOptions<Context>): Promise<PatchResult> {
  metrics.count('tidemark.standby.fallback', { reason: 'failed' });
  const order = orderOf(session.request.cookie);
  const request = { ...session.request, cookie: order === undefined ? null : { order } };
  const result = await primary.pull({ ...session, request });
  if (!('cookie' in result)) throw new Error('A pull without a cookie has all data');
  return result;
}

const newline = 0x0a;

/** Yields the same bytes in chunks that end with a line break, so that no line is left incomplete. */
async function* wholeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let partial: Uint8Array[] = [];
  for await (const bytes of pieces) {
    const end = bytes.lastIndexOf(newline) + 1;
    if (end > 0) {
      yield Buffer.concat([...partial, bytes.subarray(0, end)]);
      partial = [];
    }
    partial.push(bytes.subarray(end));
  }
  const rest = Buffer.concat(partial);
  if (rest.length > 0) yield rest;
}
