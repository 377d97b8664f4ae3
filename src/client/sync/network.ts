import { Deadline, type RequestLimits, requestLimits } from './deadline.js';
import type { TextResponse } from './transport.js';

/** Sends requests while the client may use the network. While it may not, they wait; those under way end. */
export class Network {
  readonly #limits: RequestLimits;
  readonly #requests = new Set<Deadline>();
  #passage = Promise.resolve();
  #open: (() => void) | undefined;

  constructor(limits: RequestLimits = requestLimits) {
    this.#limits = limits;
  }

  get isOpen(): boolean {
    return this.#open === undefined;
  }

  /**
   * Posts a request as soon as that is allowed.
   * @throws Error named `TimeoutError` if the response does not come in time, and what `post` throws
   */
  async post(url: string, options: Parameters<Deadline['post']>[1]): Promise<TextResponse> {
    while (!this.isOpen) await this.#passage;
    const request = new Deadline(this.#limits);
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
    this.#passage = new Promise((resolve) => {
      this.#open = resolve;
    });
    for (const request of this.#requests) request.abort();
  }
}
