/** Those who are told of changes: each is counted as long as it listens, and all end with the server. */
import { Problem } from '../../errors.js';
import type { Budget } from '../../limits/budget.js';

/** All listeners of one kind. */
export class Listeners {
  readonly #budget: Budget;
  readonly #open = new Set<Listener>();
  #isClosed = false;

  /** @param budget of listeners, of this kind and others */
  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /**
   * Takes in a listener, which must be ended.
   * @param onEnd called when it has ended, once
   * @throws Problem `unavailable` if the server is stopping or full, or `too-many-requests` if the user has too many
   */
  enter(userID: string, onEnd: () => void): Listener {
    if (this.#isClosed) throw new Problem('unavailable', 'The server is stopping; try again');
    const holding = this.#budget.open(userID);
    holding.take(1);
    const listener = new Listener(() => {
      this.#open.delete(listener);
      holding.end();
      onEnd();
    });
    this.#open.add(listener);
    return listener;
  }

  /** Ends all listeners, and refuses new ones. */
  close(): void {
    this.#isClosed = true;
    for (const listener of this.#open) listener.end();
  }
}

/** One listener. */
export class Listener {
  readonly #onEnd: () => void;
  #leave: (() => void) | undefined;
  #hasEnded = false;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Waits until it listens. It may have ended by then, and is ended by a failure.
   * @param listening resolves with what to call when it ends
   */
  async join(listening: Promise<() => void>): Promise<void> {
    try {
      this.#leave = await listening;
    } catch (error) {
      this.end();
      throw error;
    }
    if (this.#hasEnded) this.#leave();
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#leave?.();
    this.#onEnd();
  }
}
