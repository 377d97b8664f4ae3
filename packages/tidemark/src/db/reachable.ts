import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError } from '../errors.js';
import { openPool } from './pg.js';
import { isTransient, NotConnectedError } from './sqlstate.js';

const firstPauseMs = 1_000;
const maxPauseMs = 5_000;

/**
 * Waits until a database accepts connections.
 * @param waitMs how long to wait, in milliseconds
 * @param onFailure called before each retry, with the failure and the milliseconds until the retry
 * @throws the error of the last attempt; immediately if waiting does not help, as with a wrong password.
 */
export async function untilReachable(
  url: string,
  waitMs: number,
  onFailure: (error: unknown, pauseMs: number) => void,
): Promise<void> {
  const db = openPool(url, { max: 1 });
  const end = performance.now() + waitMs;
  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      try {
        await db.query({ text: 'select 1' });
        return;
      } catch (error) {
        const isRefused = error instanceof SetupError || error instanceof NotConnectedError;
        const mayPass = isTransient(error) && !isRefused;
        if (!mayPass || performance.now() + pauseMs > end) throw error;
        onFailure(error, pauseMs);
      }
      await sleep(pauseMs);
    }
  } finally {
    await db.close();
  }
}
