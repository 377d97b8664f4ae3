/** Limits how many requests of flooding tenants are served concurrently. */
import type { FloodLimiter } from './flood-limiter.js';

/** Releases a share. Takes the duration of the request in milliseconds. */
export type ReleaseShare = (durationMs: number) => void;

/** Queues requests of flooding tenants, so that the number served concurrently does not slow the other tenants. */
export class ConcurrencyShares {
  readonly #floodLimiter: FloodLimiter;
  readonly #waiting: (() => void)[] = [];
  #inUse = 0;

  constructor(floodLimiter: FloodLimiter) {
    this.#floodLimiter = floodLimiter;
  }

  /** Waits for a share. */
  async acquire(): Promise<ReleaseShare> {
    if (this.#inUse >= this.#floodLimiter.maxConcurrency)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inUse++;
    return (durationMs) => this.#release(durationMs);
  }

  #release(durationMs: number): void {
    const cooldownMs = this.#floodLimiter.cooldownMs(durationMs, performance.now());
    // Timers cannot be shorter than 1 ms.
    if (cooldownMs < 1) this.#admitNext();
    else setTimeout(() => this.#admitNext(), cooldownMs).unref();
  }

  #admitNext(): void {
    this.#inUse--;
    while (this.#inUse < this.#floodLimiter.maxConcurrency) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#inUse++;
      next();
    }
  }
}
