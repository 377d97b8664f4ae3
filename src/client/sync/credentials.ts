import type { LogContext } from '#engine';
import { within } from '../within.js';

/** The shortest time between two questions for new credentials, in milliseconds. */
export const reauthenticateAfterMs = 30_000;
/** How long the application may take to answer, in milliseconds: requests wait for it. */
const maxAnswerMs = 60_000;

/** Asks the application for an `Authorization`. */
export type GetAuth = () => string | null | undefined | Promise<string | null | undefined>;

/** The `Authorization` of requests, which the engine holds. */
export class Credentials {
  readonly #holder: { auth: string };
  readonly #getAuth: GetAuth | undefined;
  readonly #log: LogContext;
  #asked: Promise<void> | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(holder: { auth: string }, getAuth: GetAuth | undefined, log: LogContext) {
    this.#holder = holder;
    this.#getAuth = getAuth;
    this.#log = log;
  }

  /** The `Authorization`: if there is none, the application is asked for one before the first request. */
  async get(): Promise<string> {
    this.#asked ??= (async () => {
      if (!this.#holder.auth) this.#holder.auth = (await this.renew()) ?? '';
    })();
    await this.#asked;
    return this.#holder.auth;
  }

  /** New credentials after a 401; null if there are none, or if they have just been asked for. */
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
