import { Problem, SetupError } from '../errors.js';

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** For how long nobody asks again for a tenant that there is not, and for a room where there was none. */
const unknownMs = 5_000;
const fullMs = 1_000;

/**
 * Remembers how the attempts to open a tenant have failed, and when it is tried again: each failure in a row doubles the
 * pause. Pure: times come in, in milliseconds.
 */
export class Attempts {
  #failures = 0;
  #until = Number.NEGATIVE_INFINITY;
  #refusal: Problem | undefined;

  /** Whether the last attempt has failed for a reason that will pass, or that somebody must remove. */
  get isFailing(): boolean {
    return this.#refusal?.status === 503;
  }

  /** @param error a Problem is the answer to whoever asks, and does not count as a failure */
  fail(now: number, error: unknown): void {
    this.#refusal = refusalOf(error);
    this.#until = now + this.#pauseMs(error);
  }

  succeed(): void {
    this.#failures = 0;
    this.#refusal = undefined;
  }

  /** How long it is not to be tried, in milliseconds; 0 if it may be. */
  waitMs(now: number): number {
    return this.#refusal ? Math.max(0, this.#until - now) : 0;
  }

  /** What those are told who ask now, with the time after which it is tried again; undefined if that is now. */
  refusal(now: number): Problem | undefined {
    const waitMs = this.waitMs(now);
    if (!this.#refusal || waitMs === 0) return undefined;
    const { code, message, status, extensions } = this.#refusal;
    const retryAfter = status === 503 && { 'Retry-After': String(Math.ceil(waitMs / 1000)) };
    return new Problem(code, message, { status, headers: { ...this.#refusal.headers, ...retryAfter }, extensions });
  }

  #pauseMs(error: unknown): number {
    if (error instanceof Problem) return error.status === 503 ? fullMs : unknownMs;
    return Math.min(firstPauseMs * 2 ** this.#failures++, longestPauseMs);
  }
}

/** What those are told who ask for a tenant that could not be opened. The log has the reason. */
function refusalOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const isSetUp = !(error instanceof SetupError);
  const detail = isSetUp
    ? 'The database of this tenant cannot be opened now; try again later'
    : 'This tenant is not set up correctly; the log of the server says why';
  return new Problem('unavailable', detail, { extensions: { degraded: [isSetUp ? 'database' : 'setup'] } });
}
