/** Limits the time that a request waits for its response. Browsers have no such limit. */
import { timeoutError } from '../within.js';
import { type PostOptions, post, type RequestDeadline, type TextResponse } from './transport.js';

/** The limits on waiting for a response, in milliseconds. */
export interface RequestLimits {
  /** The longest wait for the headers of a response. */
  readonly maxHeadersMs: number;
  /** The longest wait for more of a response's body. */
  readonly maxSilenceMs: number;
}

export const requestLimits: RequestLimits = { maxHeadersMs: 60_000, maxSilenceMs: 30_000 };

/** Aborts a request that makes no progress. */
export class Deadline implements RequestDeadline {
  readonly #limits: RequestLimits;
  readonly #onProgress: ((bytes: number) => void) | undefined;
  readonly #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The error to throw after a timeout. Abort signals of React Native have no `reason`. */
  #timeoutError: Error | undefined;

  /** @param onProgress called with the size of the response's body so far, in bytes */
  constructor(limits: RequestLimits, onProgress?: (bytes: number) => void) {
    this.#limits = limits;
    this.#onProgress = onProgress;
  }

  /**
   * Posts a request, and reads the text of its response. Limits the pauses, not the total time.
   * @throws Error named `TimeoutError` if there is no progress, and every error of `post`
   */
  async post(url: string, options: PostOptions): Promise<TextResponse> {
    try {
      this.#expect(this.#limits.maxHeadersMs);
      return await post(url, options, this);
    } catch (error) {
      throw this.#timeoutError ?? error;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Restarts the wait, because the headers or more of the body have arrived. */
  extend(bytes = 0): void {
    this.#expect(this.#limits.maxSilenceMs);
    if (bytes) this.#onProgress?.(bytes);
  }

  abort(): void {
    this.#abort.abort();
  }

  #expect(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timeoutError = timeoutError(ms);
      this.#abort.abort();
    }, ms);
  }
}
