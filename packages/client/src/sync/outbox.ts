import type { PulledResult, PushedMutation } from '#engine';
import type { PendingMutation } from '../stores/types.js';
import { within } from '../within.js';
import { Acknowledgements } from './acknowledgements.js';
import { Pushes } from './pushes.js';

/** The minimum pause before a push that the engine does not start itself, in milliseconds. */
const minPauseMs = 1_000;
/** The longest wait for a batch before a pull, in milliseconds. */
const maxBatchMs = 2_000;

/** Tracks the mutations that are being pushed, and those that the server has acknowledged. */
export class Outbox {
  readonly #pushes = new Pushes();
  readonly #acknowledgements = new Acknowledgements();
  #inFlight = 0;
  #pushedAt = Number.NEGATIVE_INFINITY;
  #batch: Promise<unknown> = Promise.resolve();
  /** The sequence number of the last acknowledgement before the last pull began. */
  #pullSequence = 0;
  #pulls = 0;
  #wasOvertaken = false;

  /** Returns true if an earlier 413 shows that a call with these args is too large to send. */
  isTooLarge(args: unknown): boolean {
    return this.#pushes.isTooLarge(args);
  }

  /** Pushes the mutations that the server has not acknowledged, in batches. */
  async send(
    mutations: readonly PushedMutation[],
    push: (batch: readonly PushedMutation[]) => Promise<PulledResult>,
  ): Promise<PulledResult> {
    const waiting = mutations.filter((mutation) => !this.#acknowledgements.has(mutation));
    // The engine pushes everything that no pull has confirmed, even if the server has acknowledged it.
    if (waiting.length === 0) return { httpRequestInfo: { httpStatusCode: 200, errorMessage: '' } };
    this.#inFlight++;
    const pulls = this.#pulls;
    this.#wasOvertaken = false;
    try {
      return await this.#pushes.send(waiting, async (batch) => {
        const sent = push(batch);
        this.#batch = sent;
        const pushed = await sent;
        if (pushed.httpRequestInfo.httpStatusCode === 200 && !pushed.response) this.#acknowledgements.add(batch);
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

  /** Waits a short time for the response to the current batch. */
  async batchSent(): Promise<void> {
    // The sender of the batch handles its errors.
    await within(this.#batch, maxBatchMs).catch(() => {});
  }

  /** Records the start of a pull. The engine runs one pull at a time. */
  beginPull(): void {
    this.#pullSequence = this.#acknowledgements.sequence;
  }

  /** Records that the last pull has been applied. */
  endPull(): void {
    this.#pulls++;
    this.#acknowledgements.forget(this.#pullSequence);
  }

  /** True if the last push timed out although a pull succeeded during that time. */
  get wasOvertaken(): boolean {
    return this.#wasOvertaken;
  }

  /** Returns the delay in milliseconds until mutations that are not being pushed must be; null if there are none. */
  dueIn(pending: readonly PendingMutation[]): number | null {
    if (this.#inFlight > 0 || pending.every((mutation) => this.#acknowledgements.has(mutation))) return null;
    return Math.max(0, this.#pushedAt + minPauseMs - performance.now());
  }
}
