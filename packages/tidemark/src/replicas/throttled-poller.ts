import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { ChangeLogCache } from '../change-log/change-log-cache.js';
import type { ChangeLogPoller } from '../change-log/change-log-poller.js';
import { settlesWithin } from '../limits/deadline.js';

/** The minimum interval between the starts of two polls, in milliseconds, to limit the load on the primary. */
const minIntervalMs = 10;
/** Seconds without an answer until the primary counts as unavailable: at first, and while it still counts as such. */
const timeoutSeconds = { first: 5, again: 1 };

/** Polls the primary. All pulls that need a read requirement share these polls. */
export class ThrottledPoller {
  readonly #poller: ChangeLogPoller;
  #next: Promise<ChangeLogCache | undefined> | undefined;
  #begunAt = Number.NEGATIVE_INFINITY;
  #isAway = false;

  constructor(poller: ChangeLogPoller) {
    this.#poller = poller;
  }

  /** Returns the cache after a poll that began after this call; undefined if the primary does not answer. */
  poll(): Promise<ChangeLogCache | undefined> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<ChangeLogCache | undefined> {
    const pauseMs = this.#begunAt + minIntervalMs - performance.now();
    // The shortest timer takes a millisecond.
    await (pauseMs > 0 ? sleep(pauseMs) : nextTurn());
    // Later calls need another poll.
    this.#next = undefined;
    this.#begunAt = performance.now();
    // Statements that need the primary report what is wrong with it.
    return this.#answerOf(this.#poller.poll().catch(() => undefined));
  }

  /** Counts the seconds one by one, because an answer may have arrived while this process was too busy to read it. */
  async #answerOf(poll: Promise<ChangeLogCache | undefined>): Promise<ChangeLogCache | undefined> {
    let secondsLeft = this.#isAway ? timeoutSeconds.again : timeoutSeconds.first;
    while (secondsLeft > 0 && !(await settlesWithin(1_000, poll))) secondsLeft--;
    this.#isAway = secondsLeft === 0;
    return this.#isAway ? undefined : poll;
  }
}
