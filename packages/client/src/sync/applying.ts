import { notApplied } from '../client-error.js';
import type { StatusTracker } from './status.js';

/** Reports to the status whether the responses to pulls can be applied. */
export class Applying {
  readonly #status: StatusTracker;
  /** The number of consecutive pulls that could not be applied. */
  #failures = 0;

  constructor(status: StatusTracker) {
    this.#status = status;
  }

  /**
   * Reports a response that cannot be applied, once this happens twice in a row: a single failure may mean that another
   * tab stored newer data during the pull.
   */
  async report<Result>(applying: Promise<Result>): Promise<Result> {
    try {
      return await applying;
    } catch (error) {
      // A missing response has already been reported, as has one that the puller could not prepare for the engine.
      const wasAnswered = (error as Error).name !== 'PullError';
      if (wasAnswered && ++this.#failures > 1) this.#status.failed('apply', notApplied(error));
      throw error;
    }
  }

  succeeded(): void {
    this.#failures = 0;
    this.#status.succeeded('apply');
  }
}
