import { setTimeout as sleep } from 'node:timers/promises';
import { settlesWithin } from '../limits/deadline.js';
import type { Looks } from '../window/looks.js';
import type { Window } from '../window/window.js';

/** Looks at the primary begin no closer to each other than this: it is to be spared. In milliseconds. */
export const paceMs = 10;
/** After so many seconds without an answer, the primary counts as away; and after so many more, as still away. */
const patience = { first: 5, again: 1 };

/** Looks at the primary, shared by all pulls that want to know what they have to show. */
export class PacedLooks {
  readonly #looks: Looks;
  #next: Promise<Window | undefined> | undefined;
  #begunAt = Number.NEGATIVE_INFINITY;
  #isAway = false;

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
    // What is wrong with the primary is told by who cannot do without it.
    return this.#answerOf(this.#looks.look().catch(() => undefined));
  }

  /** Counts the seconds one by one: an answer may have come while this process was too busy to read it. */
  async #answerOf(look: Promise<Window | undefined>): Promise<Window | undefined> {
    let left = this.#isAway ? patience.again : patience.first;
    while (left > 0 && !(await settlesWithin(1_000, look))) left--;
    this.#isAway = left === 0;
    return this.#isAway ? undefined : look;
  }
}
