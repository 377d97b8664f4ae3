/** Lets actors work until it is closed, and waits until none is working. */
export class Gate {
  #working = 0;
  #opened: Promise<void> | undefined;
  #open: () => void = () => {};
  #quiet: () => void = () => {};

  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#opened) await this.#opened;
    this.#working++;
    try {
      return await work();
    } finally {
      this.#working--;
      if (this.#working === 0) this.#quiet();
    }
  }

  /** Runs `work` while no actor works. */
  async closed<T>(work: () => Promise<T>): Promise<T> {
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    const quiet = new Promise<void>((resolve) => {
      this.#quiet = resolve;
    });
    if (this.#working > 0) await quiet;
    try {
      return await work();
    } finally {
      this.#opened = undefined;
      this.#open();
    }
  }
}
