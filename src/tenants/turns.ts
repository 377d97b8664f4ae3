/** Whose turn it is among the requests of flooded tenants. */
import type { Company } from './company.js';

/** Ends a turn; takes how long the request has taken, in milliseconds. */
export type EndTurn = (tookMs: number) => void;

/** Has requests of flooded tenants wait for one another, so that no more are served at once than the others can bear. */
export class Turns {
  readonly #company: Company;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(company: Company) {
    this.#company = company;
  }

  /** Waits for a turn. */
  async take(): Promise<EndTurn> {
    if (this.#taken >= this.#company.turns) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#taken++;
    return (tookMs) => this.#end(tookMs);
  }

  #end(tookMs: number): void {
    const restMs = this.#company.restMs(tookMs, performance.now());
    // No timer is so short.
    if (restMs < 1) this.#next();
    else setTimeout(() => this.#next(), restMs).unref();
  }

  #next(): void {
    this.#taken--;
    while (this.#taken < this.#company.turns) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#taken++;
      next();
    }
  }
}
