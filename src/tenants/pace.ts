/** How much of the process one tenant's requests may take while there are others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Gate, type Leave } from '../limits/gate.js';
import type { Company } from './company.js';

/** How many requests of a tenant are worked on at once. */
const places = 8;
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

  constructor(tenant: string, company: Company) {
    this.#tenant = tenant;
    this.#company = company;
  }

  /**
   * Does the work of a request.
   * @param signalOf returns what aborts when the client goes away
   * @throws as `Gate.enter`, and what the work throws
   */
  async run<T>(work: () => Promise<T>, signalOf: () => AbortSignal): Promise<T> {
    const leave = await this.#gate.enter(undefined, signalOf);
    const started = performance.now();
    const working = work();
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      void this.#rest(performance.now() - started, leave);
    };
    const timer = setTimeout(end, longestHoldMs);
    working.then(end, end);
    return working;
  }

  async #rest(tookMs: number, leave: Leave): Promise<void> {
    const now = performance.now();
    if (this.#gate.waiting === 0) this.#company.noteServed(this.#tenant, tookMs, now);
    else if (!this.#company.isAlone(this.#tenant, now)) await sleep(this.#company.restMs(tookMs, now));
    leave();
  }
}
