/** Keeps one user's many requests from standing before everybody else's. */

/** How many requests of one user begin in each round. */
const mostOfOne = 32;

/**
 * Has requests begin in rounds of the event loop, only so many of each user in one round. Whoever comes while one user
 * has sent thousands waits for some of them at each step, and not for all.
 */
export class Rounds {
  /** In this round. */
  readonly #begun = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves when another request of a user may begin; in the order of the calls. */
  async begin(userID: string): Promise<void> {
    const begun = this.#begun.get(userID) ?? 0;
    if (begun === mostOfOne) return this.#wait(userID);
    if (this.#begun.size === 0) setImmediate(() => this.#next());
    this.#begun.set(userID, begun + 1);
  }

  #wait(userID: string): Promise<void> {
    const waiting = this.#waiting.get(userID) ?? [];
    this.#waiting.set(userID, waiting);
    return new Promise((resolve) => waiting.push(resolve));
  }

  #next(): void {
    this.#begun.clear();
    for (const [userID, waiting] of this.#waiting) {
      const next = waiting.splice(0, mostOfOne);
      if (waiting.length === 0) this.#waiting.delete(userID);
      this.#begun.set(userID, next.length);
      for (const begin of next) begin();
    }
    if (this.#begun.size > 0) setImmediate(() => this.#next());
  }
}
