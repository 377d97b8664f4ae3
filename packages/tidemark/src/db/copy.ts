import type { Pool } from 'pg';
import { abandonedMessage, checkOut } from './checkout.js';
import { CopyStream } from './copy-stream.js';
import { setOwn } from './own-settings.js';
import { GivenUpError } from './sqlstate.js';

/** The number of bytes of COPY output to buffer before Postgres has to wait. */
const highWaterMark = 64 * 1024;

/** Limits after which a COPY is cancelled. */
export interface CopyLimits {
  /** The maximum time until the first bytes arrive, in milliseconds. Default: no limit. */
  readonly firstMs?: number | undefined;
  /** Aborts when the bytes are no longer needed. Default: never. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a `copy … to stdout` statement and yields its bytes. Each chunk is everything that has arrived since the
 * previous one. The first comes as soon as Postgres sends it, and a slow reader gets few large chunks. Leaving the loop
 * early closes the connection and cancels the statement. The reader determines how long the statement takes.
 * @throws GivenUpError if a limit is reached
 */
export async function* readCopy(
  pool: Pool,
  text: string,
  { firstMs, signal }: CopyLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const checkout = await checkOut(pool, signal);
  const { client } = checkout;
  const stream = client.query(new CopyStream(`${setOwn}; ${text}`, highWaterMark));
  // The stream can still emit an error after its last byte, when it has no other listener.
  stream.on('error', () => {});
  const giveUp = (why: string) => {
    checkout.cancel();
    stream.destroy(new GivenUpError(why));
  };
  const onAbort = () => giveUp(abandonedMessage);
  const timer = firstMs && setTimeout(() => giveUp(`No row came within ${firstMs} ms`), firstMs);
  signal?.addEventListener('abort', onAbort);
  let outcome: 'running' | 'complete' | 'failed' = 'running';
  try {
    for await (const chunk of stream) {
      clearTimeout(timer);
      yield chunk as Uint8Array;
    }
    outcome = 'complete';
  } catch (error) {
    outcome = 'failed';
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    if (outcome === 'running') checkout.cancel();
    checkout.release(outcome !== 'complete');
  }
}
