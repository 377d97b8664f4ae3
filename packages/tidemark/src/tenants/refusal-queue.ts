import { setTimeout as sleep } from 'node:timers/promises';

const everyMs = 50;
const maxWaitMs = 10_000;

/** Spaces the refusals of one tenant: they are sent one by one, `everyMs` apart, but each after at most `maxWaitMs`. */
export class RefusalQueue {
  /** The time at which the last refusal is sent. */
  #lastAt = Number.NEGATIVE_INFINITY;

  /** Waits until the next refusal can be sent. */
  async waitForTurn(): Promise<void> {
    const now = performance.now();
    this.#lastAt = Math.min(Math.max(this.#lastAt + everyMs, now), now + maxWaitMs);
    await sleep(this.#lastAt - now);
  }
}
