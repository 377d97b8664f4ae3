/** The authorization of a request that stays open. `authenticate` confirms it repeatedly. */
import type { UserContext } from '../../context.js';
import type { Problem } from '../../errors.js';
import { type IdentifiedCaller, identifyAgain, unauthenticated } from '../../http/identify.js';
import { toProblem } from '../../http/problem.js';
import { describeError } from '../../log.js';
import { maxTimerMs } from './stream-life.js';

/** Rows are sent only this long after a confirmation, in milliseconds. Failed attempts are at least as far apart. */
export const maxAgeMs = 5_000;
/** A tenth of the interval is random, so that streams opened together are not confirmed together. */
const intervalSpread = 0.1;

/** A request that stays open as long as its caller is authorized. */
export interface OpenRequest {
  /** Ends the request, because its caller is no longer authorized. */
  end(refusal: Problem): void;
  /** Called after each confirmation except the first. */
  wake?(): void;
}

/** The authorization of one open request. */
export class Authorization<Context extends UserContext> {
  readonly #caller: IdentifiedCaller<Context>;
  readonly #request: OpenRequest;
  readonly #intervalMs: number;
  #context: Context;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #confirmedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #isConfirming = false;
  #hasEnded = false;

  /** @param intervalMs the time between two confirmations, in milliseconds */
  constructor(caller: IdentifiedCaller<Context>, request: OpenRequest, intervalMs: number) {
    this.#caller = caller;
    this.#request = request;
    this.#intervalMs = intervalMs;
    this.#context = caller.context;
  }

  /** The latest result of `authenticate`. */
  get context(): Context {
    return this.#context;
  }

  /** True if it was confirmed recently enough to send rows. */
  get isFresh(): boolean {
    return performance.now() - this.#confirmedAt < maxAgeMs;
  }

  /**
   * Confirms the authorization now, and then at each interval. Call it once the caller is subscribed, so that a later
   * disconnect finds the registration.
   * @throws whatever a new request would be refused with
   */
  async begin(): Promise<void> {
    await this.#confirmNow();
    this.#wait();
  }

  /**
   * Confirms the authorization now, unless an attempt is under way or began less than `maxAgeMs` ago. If `authenticate`
   * fails, the request stays open, and the authorization is not fresh.
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
      this.#request.wake?.();
    } catch (error) {
      const problem = toProblem(error);
      if (isRefusal(problem)) return this.#request.end(problem);
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
      const context = await identifyAgain(this.#caller);
      if (context.userID !== this.#context.userID) {
        throw unauthenticated('The authorization is now that of another user');
      }
      this.#context = context;
      this.#confirmedAt = attemptedAt;
    } finally {
      this.#isConfirming = false;
    }
  }

  #wait(): void {
    if (this.#hasEnded) return;
    const ms = this.#intervalMs * (1 - intervalSpread * Math.random());
    this.#timer = setTimeout(() => void this.#confirmOrEnd(), Math.min(ms, maxTimerMs));
  }
}

/** True for a refusal of the request itself. Rate limits and server failures are temporary. */
function isRefusal({ status, code }: Problem): boolean {
  return status < 500 && code !== 'too-many-requests';
}
