import { setTimeout as sleep } from 'node:timers/promises';
import type { Looks } from '../window/looks.js';
import type { Window } from '../window/window.js';

/** Looks at the primary begin no closer to each other than this: it is to be spared. In milliseconds. */
export const paceMs = 10;
/** After this time without an answer, the primary counts as away. In milliseconds. */
const patienceMs = 1_000;

/** Looks at the primary, shared by all pulls that want to know what they have to show. */
export class PacedLooks {
  readonly #looks: Looks;
  #next: Promise<Window | undefined> | undefined;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(looks: Looks) {
    this.#looks = looks;
  }

  /** The window after a look that began after this was called; undefined if the primary does not answer. */
  look(): Promise<Window | undefined> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<Window | undefined> {
    await sleep(Math.max(0, this.#begunAt + paceMs - performance.now()));
    // Who comes from now on needs another one.
    this.#next = undefined;
    this.#begunAt = performance.now();
    const late = sleep(patienceMs, undefined, { ref: false });
    // What is wrong with the primary is told by who cannot do without it.
    return Promise.race([this.#looks.look().catch(() => undefined), late]);
  }
}
