import type { Pool } from 'pg';
import { abandoned, checkOut } from './checkout.js';
import { CopyStream } from './copy-stream.js';
import { setOwn } from './own-settings.js';
import { GivenUpError } from './sqlstate.js';

/** How many bytes of COPY output are held in memory before Postgres has to wait. */
const HIGH_WATER_MARK = 64 * 1024;

/** When a COPY is given up. */
export interface CopyLimits {
  /** How long it may take until the first bytes come, in milliseconds. Default: as long as it likes. */
  readonly firstMs?: number | undefined;
  /** Aborts when nobody waits for the bytes any more. Default: somebody does. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a `copy … to stdout` statement and yields its bytes. A chunk is everything that has arrived since the last one:
 * the first comes as soon as Postgres sends it, and a slow reader gets few large chunks. Leaving the loop early closes
 * the connection and cancels the statement on the server. How long the statement may take is decided by its reader.
 * @throws GivenUpError if a limit is reached
 */
export async function* readCopy(
  pool: Pool,
  text: string,
  { firstMs, signal }: CopyLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  const checkout = await checkOut(pool, signal);
  const { client } = checkout;
  const stream = client.query(new CopyStream(`${setOwn}; ${text}`, HIGH_WATER_MARK));
  // The stream can still emit an error after its last byte, when nothing else listens any more.
  stream.on('error', () => {});
  const giveUp = (why: string) => {
    checkout.cancel();
    stream.destroy(new GivenUpError(why));
  };
  const onAbort = () => giveUp(abandoned);
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
