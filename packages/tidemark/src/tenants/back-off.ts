import { Problem, SetupError } from '../errors.js';

const initialPauseMs = 1_000;
const maxPauseMs = 30_000;
/** The pauses after a tenant was not found, and after too many other tenants were busy to open it. */
const notFoundPauseMs = 5_000;
const fullPauseMs = 1_000;

/**
 * Delays new attempts to open a tenant after failed ones. Each consecutive failure doubles the pause. Pure: callers
 * pass times in milliseconds.
 */
export class BackOff {
  #failures = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  #refusal: Problem | undefined;

  /** True if the last attempt failed for a reason that is temporary, or that an operator must fix. */
  get isFailing(): boolean {
    return this.#refusal?.status === 503;
  }

  /** @param error the failure. A Problem becomes the response, and does not count as a failure. */
  fail(now: number, error: unknown): void {
    this.#refusal = refusalOf(error);
    this.#retryAt = now + this.#pauseMs(error);
  }

  succeed(): void {
    this.#failures = 0;
    this.#refusal = undefined;
  }

  /** Returns the milliseconds until the next attempt is allowed; 0 if it is allowed now. */
  waitMs(now: number): number {
    return this.#refusal ? Math.max(0, this.#retryAt - now) : 0;
  }

  /** Returns the refusal for a request at this time, with the time to retry; undefined if an attempt is allowed. */
  refusal(now: number): Problem | undefined {
    const waitMs = this.waitMs(now);
    if (!this.#refusal || waitMs === 0) return undefined;
    const { code, message, status, extensions } = this.#refusal;
    const retryAfter = status === 503 && { 'Retry-After': String(Math.ceil(waitMs / 1000)) };
    return new Problem(code, message, { status, headers: { ...this.#refusal.headers, ...retryAfter }, extensions });
  }

  #pauseMs(error: unknown): number {
    if (error instanceof Problem) return error.status === 503 ? fullPauseMs : notFoundPauseMs;
    return Math.min(initialPauseMs * 2 ** this.#failures++, maxPauseMs);
  }
}

/** Returns the refusal for requests of a tenant that could not be opened. Only the log has the reason. */
function refusalOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const isSetUp = !(error instanceof SetupError);
  const detail = isSetUp
    ? 'The database of this tenant cannot be opened now; try again later'
    : 'This tenant is not set up correctly; the log of the server says why';
  return new Problem('unavailable', detail, { extensions: { degraded: [isSetUp ? 'database' : 'setup'] } });
}
