/** The longest time, in milliseconds, for which the page's thread is kept. */
const longestMs = 50;

/** Gives other tasks of the page their turn during long work. */
export class Turns {
  #since = Number.NEGATIVE_INFINITY;

  /** Called between the steps of the work: waits for another turn if this one has been long. */
  async next(): Promise<void> {
    if (performance.now() - this.#since < longestMs) return;
    await new Promise((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}
