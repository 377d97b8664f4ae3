/** The authorization of a request that is held open: `authenticate` is asked about it again and again. */
import type { UserContext } from '../../context.js';
import type { Problem } from '../../errors.js';
import { type Identified, refused } from '../../http/identify.js';
import { toProblem } from '../../http/problem.js';
import { describeError } from '../../log.js';
import { longestTimerMs } from './stream-life.js';

/** Rows are sent only if the authorization was confirmed within this time. Failed attempts are as far apart. */
export const maxAgeMs = 5_000;
/** A tenth of the interval is left to chance, so that streams that opened together do not ask together. */
const intervalSpread = 0.1;

/** How an authorization is confirmed, and who learns of it. */
export interface AuthorizationOptions {
  /** The time between two questions, in milliseconds, if nothing else requires one. */
  readonly intervalMs: number;
  readonly onRefused: (refusal: Problem) => void;
  /** Default: nobody waits for it. */
  readonly onConfirmed?: (() => void) | undefined;
}

/** Answers whether the caller of a held request may still have what the request is held for. */
export class Authorization<Context extends UserContext> {
  readonly #caller: Identified<Context>;
  readonly #options: AuthorizationOptions;
  #context: Context;
  #askedAt = Number.NEGATIVE_INFINITY;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
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

  /** True if rows may be sent. */
  get isFresh(): boolean {
    return performance.now() - this.#confirmedAt < maxAgeMs;
  }

  /**
   * Confirms the authorization, and from then on at each interval. To be called when the caller listens: whoever withdraws
   * the authorization later finds the listener.
   * @throws as a new request would be refused
   */
  async begin(): Promise<void> {
    await this.#ask();
    this.#wait();
  }

  /**
   * Confirms the authorization now, unless that was attempted within the last seconds. If `authenticate` fails to answer,
   * nothing is known: the request is held on, and the authorization is not fresh.
   */
  async confirm(): Promise<void> {
    if (this.#isAsking || performance.now() - this.#askedAt < maxAgeMs) return;
    clearTimeout(this.#timer);
    await this.#check();
  }

  end(): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  async #check(): Promise<void> {
    try {
      await this.#ask();
      this.#options.onConfirmed?.();
    } catch (error) {
      const problem = toProblem(error);
      if (isRefusal(problem)) return this.#options.onRefused(problem);
      this.#caller.log.warn(
        { error: describeError(error) },
        'authenticate has failed for a request that is held open; no rows are sent until it answers',
      );
    }
    this.#wait();
  }

  async #ask(): Promise<void> {
    const askedAt = performance.now();
    this.#askedAt = askedAt;
    this.#isAsking = true;
    try {
      const context = await this.#caller.identifyAgain();
      if (context.userID !== this.#context.userID) throw refused('The authorization is now that of another user');
      this.#context = context;
      this.#confirmedAt = askedAt;
    } finally {
      this.#isAsking = false;
    }
  }

  #wait(): void {
    if (this.#hasEnded) return;
    const ms = this.#options.intervalMs * (1 - intervalSpread * Math.random());
    this.#timer = setTimeout(() => void this.#check(), Math.min(ms, longestTimerMs));
  }
}

/** True for what the request itself is refused with: other failures, and limits, pass. */
function isRefusal({ status, code }: Problem): boolean {
  return status < 500 && code !== 'too-many-requests';
}
