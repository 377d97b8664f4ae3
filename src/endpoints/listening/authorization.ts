/** The authorization of a request that stays open, which `authenticate` confirms repeatedly. */
import type { UserContext } from '../../context.js';
import type { Problem } from '../../errors.js';
import { type Identified, refused } from '../../http/identify.js';
import { toProblem } from '../../http/problem.js';
import { describeError } from '../../log.js';
import { longestTimerMs } from './stream-life.js';

/** Rows are sent only if the authorization was confirmed within this time, in milliseconds; failed attempts are as far apart. */
export const maxAgeMs = 5_000;
/** A tenth of the interval is random: streams that opened together are not confirmed together. */
const intervalSpread = 0.1;

/** The options of an `Authorization`. */
export interface AuthorizationOptions {
  /** The time between two confirmations, in milliseconds. */
  readonly intervalMs: number;
  readonly onRefused: (refusal: Problem) => void;
  /** Default: nothing is called. */
  readonly onConfirmed?: (() => void) | undefined;
}

/** The authorization of one open request. */
export class Authorization<Context extends UserContext> {
  readonly #caller: Identified<Context>;
  readonly #options: AuthorizationOptions;
  #context: Context;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isConfirming = false;
  #hasEnded = false;

  constructor(caller: Identified<Context>, options: AuthorizationOptions) {
    this.#caller = caller;
    this.#options = options;
    this.#context = caller.context;
  }

  /** What `authenticate` returned last. */
  get context(): Context {
    return this.#context;
  }

  /** True if it was confirmed so lately that rows may be sent. */
  get isFresh(): boolean {
    return performance.now() - this.#confirmedAt < maxAgeMs;
  }

  /**
   * Confirms the authorization now, and from then on at each interval. To be called when the caller listens: a
   * disconnect that comes later finds the listener.
   * @throws what a new request would be refused with
   */
  async begin(): Promise<void> {
    await this.#confirmNow();
    this.#wait();
  }

  /**
   * Confirms the authorization now, unless that was attempted within the last seconds. If `authenticate` fails, the
   * request stays open, and the authorization is not fresh.
   */
  async confirm(): Promise<void> {
    if (this.#isConfirming || performance.now() - this.#attemptedAt < maxAgeMs) return;
    clearTimeout(this.#timer);
    await this.#confirmOrEnd();
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  async #confirmOrEnd(): Promise<void> {
    try {
      await this.#confirmNow();
      this.#options.onConfirmed?.();
    } catch (error) {
      const problem = toProblem(error);
      if (isRefusal(problem)) return this.#options.onRefused(problem);
      this.#caller.log.warn(
        { error: describeError(error) },
        'authenticate has failed for a request that stays open; no rows are sent until it succeeds',
      );
    }
    this.#wait();
  }

  async #confirmNow(): Promise<void> {
    const attemptedAt = performance.now();
    this.#attemptedAt = attemptedAt;
    this.#isConfirming = true;
    try {
      const context = await this.#caller.identifyAgain();
      if (context.userID !== this.#context.userID) throw refused('The authorization is now that of another user');
      this.#context = context;
      this.#confirmedAt = attemptedAt;
    } finally {
      this.#isConfirming = false;
    }
  }

  #wait(): void {
    if (this.#hasEnded) return;
    const ms = this.#options.intervalMs * (1 - intervalSpread * Math.random());
    this.#timer = setTimeout(() => void this.#confirmOrEnd(), Math.min(ms, longestTimerMs));
  }
}

/** True for a refusal of the request itself: limits and failures of the server are temporary. */
function isRefusal({ status, code }: Problem): boolean {
  return status < 500 && code !== 'too-many-requests';
}
