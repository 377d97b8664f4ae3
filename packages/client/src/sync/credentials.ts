import type { LogContext } from '#engine';
import { within } from '../within.js';

/** The minimum time between two calls of `getAuth`, in milliseconds. */
export const reauthenticateAfterMs = 30_000;
/** The longest wait for `getAuth`, in milliseconds. Requests wait for it. */
const maxAnswerMs = 60_000;

/** The application's function that returns an `Authorization`. */
export type GetAuth = () => string | null | undefined | Promise<string | null | undefined>;

/** The `Authorization` of requests, which the engine stores. */
export class Credentials {
  readonly #holder: { auth: string };
  readonly #getAuth: GetAuth | undefined;
  readonly #log: LogContext;
  #firstRenewal: Promise<void> | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(holder: { auth: string }, getAuth: GetAuth | undefined, log: LogContext) {
    this.#holder = holder;
    this.#getAuth = getAuth;
    this.#log = log;
  }

  /** Returns the `Authorization`. If there is none, calls `getAuth` before the first request. */
  async get(): Promise<string> {
    this.#firstRenewal ??= (async () => {
      if (!this.#holder.auth) this.#holder.auth = (await this.renew()) ?? '';
    })();
    await this.#firstRenewal;
    return this.#holder.auth;
  }

  /** Returns new credentials after a 401; null if there are none, or if `getAuth` was called recently. */
  async renew(): Promise<string | null> {
    const now = performance.now();
    if (now - this.#renewedAt < reauthenticateAfterMs) return null;
    this.#renewedAt = now;
    try {
      return (await within(Promise.resolve(this.#getAuth?.()), maxAnswerMs)) ?? null;
    } catch (error) {
      this.#log.error?.('getAuth failed', error);
      return null;
    }
  }
}
