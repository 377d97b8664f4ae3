const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Decides when something that has failed is tried again: each failure in a row doubles the pause. Pure. */
export class Attempts {
  #failures = 0;
  #until = Number.NEGATIVE_INFINITY;

  /**
   * Notes a failure.
   * @param now in milliseconds
   * @param pauseMs for how long it is not tried again, if it does not matter how often it has failed
   */
  fail(now: number, pauseMs?: number): void {
    if (pauseMs === undefined) this.#failures++;
    this.#until = now + (pauseMs ?? Math.min(firstPauseMs * 2 ** (this.#failures - 1), longestPauseMs));
  }

  succeed(): void {
    this.#failures = 0;
    this.#until = Number.NEGATIVE_INFINITY;
  }

  /** How long it is not to be tried, in milliseconds; 0 if it may be. */
  waitMs(now: number): number {
    return Math.max(0, this.#until - now);
  }
}
