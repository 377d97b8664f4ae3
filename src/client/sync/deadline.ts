/** Limits how long a request waits for its response. A browser has no limit of its own. */
import { timeoutError } from '../within.js';
import { type PostOptions, post, type TextResponse } from './transport.js';

/** The longest waits, in milliseconds. */
export interface RequestLimits {
  /** For the headers of a response. */
  readonly maxHeadersMs: number;
  /** For more of a response's body. */
  readonly maxSilenceMs: number;
}

export const requestLimits: RequestLimits = { maxHeadersMs: 60_000, maxSilenceMs: 30_000 };

/** Aborts a request that makes no progress. */
export class Deadline {
  readonly #limits: RequestLimits;
  readonly #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Not the signal's reason, which React Native's signals do not have. */
  #late: Error | undefined;

  constructor(limits: RequestLimits) {
    this.#limits = limits;
  }

  /**
   * Posts a request, and reads the text of its response, however long that is.
   * @throws Error named `TimeoutError` if there is no progress, and what `post` throws
   */
  async post(url: string, options: Omit<PostOptions, 'signal' | 'onProgress'>): Promise<TextResponse> {
    try {
      this.#expect(this.#limits.maxHeadersMs);
      const onProgress = () => this.#expect(this.#limits.maxSilenceMs);
      return await post(url, { ...options, signal: this.#abort.signal, onProgress });
    } catch (error) {
      throw this.#late ?? error;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  abort(): void {
    this.#abort.abort();
  }

  #expect(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#late = timeoutError(ms);
      this.#abort.abort();
    }, ms);
  }
}
