/** Keeps one user's many requests from delaying those of other users. */

/** The maximum number of requests of one user that start in one turn of the event loop. */
const maxPerUser = 32;

/**
 * Starts only a few requests of each user in one turn of the event loop. While thousands of requests of one user wait,
 * another user's request waits behind a few of them in each turn, not behind all of them.
 */
export class PerTickLimiter {
  /** The number of requests that have started in this turn, by user. */
  readonly #startCounts = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves when another request of a user can start, in the order of the calls. */
  async begin(userID: string): Promise<void> {
    const startCount = this.#startCounts.get(userID) ?? 0;
    if (startCount === maxPerUser) return this.#wait(userID);
    if (this.#startCounts.size === 0) setImmediate(() => this.#next());
    this.#startCounts.set(userID, startCount + 1);
  }

  #wait(userID: string): Promise<void> {
    const waiting = this.#waiting.get(userID) ?? [];
    this.#waiting.set(userID, waiting);
    return new Promise((resolve) => waiting.push(resolve));
  }

  #next(): void {
    this.#startCounts.clear();
    for (const [userID, waiting] of this.#waiting) {
      const next = waiting.splice(0, maxPerUser);
      if (waiting.length === 0) this.#waiting.delete(userID);
      this.#startCounts.set(userID, next.length);
      for (const begin of next) begin();
    }
    if (this.#startCounts.size > 0) setImmediate(() => this.#next());
  }
}
