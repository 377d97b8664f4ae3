import type { UserContext } from '../context.js';
import { ConnectionLostError } from '../db/sqlstate.js';
import type { Found } from './condition.js';
import type { Source } from './source.js';

/** A standby from which pulls may read. */
export interface StandbyState {
  readonly name: string;
  readonly isUsed: boolean;
  /** Undefined if it is not known. */
  readonly lagMs: number | undefined;
}

/** A standby, and what is known of it. */
export class Standby<Context extends UserContext> {
  readonly source: Source<Context>;
  found: Found = { condition: 'gone', lagMs: undefined };
  readonly #waiting = new Set<(error: Error) => void>();

  constructor(source: Source<Context>) {
    this.source = source;
  }

  /** What it is called in logs and metrics. */
  get name(): string {
    return this.source.db.name;
  }

  get isUsed(): boolean {
    return this.found.condition === 'used';
  }

  /**
   * Waits for an answer of the standby, unless it is found to be gone: a connection can hang for minutes.
   * @param onLate called with what is answered after all
   * @throws ConnectionLostError if the standby is gone; and what the work throws
   */
  ask<T>(work: Promise<T>, onLate: (answer: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const give = (error: Error) => {
        work.then(onLate, () => {});
        reject(error);
      };
      this.#waiting.add(give);
      work.finally(() => this.#waiting.delete(give)).then(resolve, reject);
    });
  }

  /** Nobody waits for it any longer. */
  giveUp(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const give of waiting) give(new ConnectionLostError('The standby is gone'));
  }
}
