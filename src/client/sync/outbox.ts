import type { PulledResult, PushedMutation } from '#engine';
import type { PendingMutation } from '../stores/types.js';
import { within } from '../within.js';
import { Acknowledged } from './acknowledged.js';
import { Pushes } from './pushes.js';

/** The shortest time between pushes that the engine does not make by itself, in milliseconds. */
const minPauseMs = 1_000;
/** How long a batch is waited for, at most, before a pull. */
const maxBatchMs = 2_000;

/** What is on its way to the server, and what has arrived. */
export class Outbox {
  readonly #pushes = new Pushes();
  readonly #acknowledged = new Acknowledged();
  #inFlight = 0;
  #pushedAt = Number.NEGATIVE_INFINITY;
  #batch: Promise<unknown> = Promise.resolve();
  /** The moment at which the last pull began. */
  #pullMoment = 0;
  #pulls = 0;
  #wasOvertaken = false;

  /** True if a call with these args is known to be too large to be sent. */
  isTooLarge(args: unknown): boolean {
    return this.#pushes.isTooLarge(args);
  }

  /** Pushes the mutations that the server has not acknowledged, in batches, by `push`. */
  async send(
    mutations: readonly PushedMutation[],
    push: (batch: readonly PushedMutation[]) => Promise<PulledResult>,
  ): Promise<PulledResult> {
    const waiting = mutations.filter((mutation) => !this.#acknowledged.has(mutation));
    // The engine asks to push all that no pull has confirmed.
    if (waiting.length === 0) return { httpRequestInfo: { httpStatusCode: 200, errorMessage: '' } };
    this.#inFlight++;
    const pulls = this.#pulls;
    this.#wasOvertaken = false;
    try {
      return await this.#pushes.send(waiting, async (batch) => {
        const sent = push(batch);
        this.#batch = sent;
        const pushed = await sent;
        if (pushed.httpRequestInfo.httpStatusCode === 200 && !pushed.response) this.#acknowledged.add(batch);
        return pushed;
      });
    } catch (error) {
      this.#wasOvertaken = (error as Error).name === 'TimeoutError' && this.#pulls > pulls;
      throw error;
    } finally {
      this.#inFlight--;
      this.#pushedAt = performance.now();
    }
  }

  /** Waits until the batch that is being pushed is answered, for a short time. */
  async batchSent(): Promise<void> {
    // Its own sender is told what fails.
    await within(this.#batch, maxBatchMs).catch(() => {});
  }

  /** That a pull begins. The engine has one at a time. */
  beginPull(): void {
    this.#pullMoment = this.#acknowledged.now;
  }

  /** That what the last pull has brought is applied. */
  endPull(): void {
    this.#pulls++;
    this.#acknowledged.forget(this.#pullMoment);
  }

  /** True if the last push was given up although a pull has reached the server during that time. */
  get wasOvertaken(): boolean {
    return this.#wasOvertaken;
  }

  /** In how many milliseconds mutations that nobody is sending are to be sent; null if there are none. */
  dueIn(pending: readonly PendingMutation[]): number | null {
    if (this.#inFlight > 0 || pending.every((mutation) => this.#acknowledged.has(mutation))) return null;
    return Math.max(0, this.#pushedAt + minPauseMs - performance.now());
  }
}
