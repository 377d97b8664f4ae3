import type { KeyValueWrite } from '../stores/types.js';

/** The longest time, in milliseconds, for which the page's thread is kept. */
const maxTurnMs = 50;

/** Gives other tasks of the page their turn during long work. */
export class Turns {
  #since = Number.NEGATIVE_INFINITY;

  /**
   * Called between the steps of the work: waits for another turn if this one has been long.
   * @param open the transaction of a store in which the work is done. IndexedDB would end it in a turn in which nothing is
   * asked of it.
   */
  async next(open: KeyValueWrite | undefined): Promise<void> {
    if (performance.now() - this.#since < maxTurnMs) return;
    await (open ? open.has('') : new Promise((resolve) => setTimeout(resolve)));
    this.#since = performance.now();
  }
}
