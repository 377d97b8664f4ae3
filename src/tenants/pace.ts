/** How much of the process one tenant's requests may take while there are others. */
import { Gate } from '../limits/gate.js';
import type { Company } from './company.js';
import type { Turns } from './turns.js';

/** How many requests of a tenant are worked on at once. */
const places = 4;
/** After this, a request waits for something else than this process: for a lock, or for a change. */
const longestHoldMs = 100;

/**
 * Lets a tenant's requests through a few at a time. One whose requests always wait gets what the others leave, and whatever
 * holds its requests up for long holds up nothing else.
 */
export class Pace {
  readonly #gate = new Gate({
    places,
    mostWaiting: 1_000,
    longestWaitMs: 10_000,
    usualMs: 10,
    refusal: 'Too many requests of this tenant are being served; try again later',
  });
  readonly #tenant: string;
  readonly #company: Company;
  readonly #turns: Turns;

  constructor(tenant: string, company: Company, turns: Turns) {
    this.#tenant = tenant;
    this.#company = company;
    this.#turns = turns;
  }

  /**
   * Does the work of a request.
   * @param signalOf returns what aborts when the client goes away
   * @throws as `Gate.enter`, and what the work throws
   */
  async run<T>(work: () => Promise<T>, signalOf: () => AbortSignal): Promise<T> {
    const leave = await this.#gate.enter(undefined, signalOf);
    const isFlooded = this.#gate.waiting > 0 && !this.#company.isAlone(this.#tenant, performance.now());
    const endTurn = isFlooded ? await this.#turns.take() : undefined;
    const started = performance.now();
    const working = work();
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      const now = performance.now();
      if (endTurn) endTurn(now - started);
      else if (this.#gate.waiting === 0) this.#company.noteServed(this.#tenant, now - started, now);
      leave();
    };
    const timer = setTimeout(end, longestHoldMs);
    working.then(end, end);
    return working;
  }
}
