/** How much of the process one tenant's requests may take while there are others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Gate, type Leave } from '../limits/gate.js';

/** How many requests of a tenant are worked on at once. */
const places = 8;
/** After this, a request waits for something else than this process: for a lock, or for a change. */
const longestHoldMs = 100;
/** For how many times as long as a request took its place rests, if more are waiting. */
const rest = 2;
const longestRestMs = 500;

/**
 * Lets a tenant's requests through a few at a time. One whose requests always wait leaves two thirds of the time to
 * others, and whatever holds its requests up for long holds up nothing else.
 */
export class Pace {
  readonly #gate = new Gate({
    places,
    mostWaiting: 1_000,
    longestWaitMs: 10_000,
    usualMs: 10,
    refusal: 'Too many requests of this tenant are being served; try again later',
  });
  readonly #isAlone: () => boolean;

  /** @param isAlone whether nobody else has anything under way */
  constructor(isAlone: () => boolean) {
    this.#isAlone = isAlone;
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
    if (this.#gate.waiting > 0 && !this.#isAlone()) await sleep(Math.min(rest * tookMs, longestRestMs));
    leave();
  }
}
