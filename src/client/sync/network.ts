/** Whether requests may go out. While they may not, they wait; those under way end. */
export class Network {
  #passage = Promise.resolve();
  #open: (() => void) | undefined;
  #requests = new AbortController();

  get isOpen(): boolean {
    return this.#open === undefined;
  }

  /** Sends a request as soon as that is allowed. */
  async fetch(url: string, init: RequestInit): Promise<Response> {
    while (!this.isOpen) await this.#passage;
    return fetch(url, { ...init, signal: this.#requests.signal });
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
    this.#requests.abort();
    this.#requests = new AbortController();
  }
}
