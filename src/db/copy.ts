import type { Pool } from 'pg';
import { cancelStatement } from './cancel.js';
import { checkOut } from './checkout.js';
import { CopyStream } from './copy-stream.js';

/** How many bytes of COPY output are held in memory before Postgres has to wait. */
const HIGH_WATER_MARK = 64 * 1024;

/**
 * Runs a `copy … to stdout` statement and yields its bytes. A chunk is everything that has arrived since the last one:
 * the first comes as soon as Postgres sends it, and a slow reader gets few large chunks. Leaving the loop early closes
 * the connection and cancels the statement on the server.
 */
export async function* readCopy(pool: Pool, text: string): AsyncGenerator<Uint8Array, void, undefined> {
  const checkout = await checkOut(pool);
  const { client } = checkout;
  const stream = client.query(new CopyStream(text, HIGH_WATER_MARK));
  // The stream can still emit an error after its last byte, when nothing else listens any more.
  stream.on('error', () => {});
  let outcome: 'running' | 'complete' | 'failed' = 'running';
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
    outcome = 'complete';
  } catch (error) {
    outcome = 'failed';
    throw error;
  } finally {
    if (outcome === 'running') cancelStatement(pool, client);
    checkout.release(outcome !== 'complete');
  }
}
