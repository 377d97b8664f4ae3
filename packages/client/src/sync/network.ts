import { Deadline, type RequestLimits, requestLimits } from './deadline.js';
import type { TextResponse } from './transport.js';

/** Sends requests while the network is open. Closing it aborts requests, and new ones wait until it is open again. */
export class Network {
  readonly #limits: RequestLimits;
  readonly #requests = new Set<Deadline>();
  #untilOpen = Promise.resolve();
  #open: (() => void) | undefined;

  constructor(limits: RequestLimits = requestLimits) {
    this.#limits = limits;
  }

  get isOpen(): boolean {
    return this.#open === undefined;
  }

  /**
   * Posts a request once the network is open.
   * @throws Error named `TimeoutError` if the response does not arrive in time, and every error of `post`
   */
  async post(
    url: string,
    options: Parameters<Deadline['post']>[1],
    onProgress?: (bytes: number) => void,
  ): Promise<TextResponse> {
    while (!this.isOpen) await this.#untilOpen;
    const request = new Deadline(this.#limits, onProgress);
    this.#requests.add(request);
    try {
      return await request.post(url, options);
    } finally {
      this.#requests.delete(request);
    }
  }

  open(): void {
    this.#open?.();
    this.#open = undefined;
  }

  close(): void {
    if (!this.isOpen) return;
    this.#untilOpen = new Promise((resolve) => {
      this.#open = resolve;
    });
    for (const request of this.#requests) request.abort();
  }
}
