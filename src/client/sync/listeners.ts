import { isolate } from '../observable.js';

/** A listener of the application's. */
export interface Listener {
  /** Calls it, unless it was stopped. */
  call(listener: () => void): void;
  stop(): void;
}

/** The application's listeners, whose first calls a client waits for before it closes. */
export class Listeners {
  readonly #starting = new Set<Promise<void>>();

  add(): Listener {
    let active = true;
    let started = () => {};
    const start = new Promise<void>((resolve) => {
      started = resolve;
    });
    this.#starting.add(start);
    void start.then(() => this.#starting.delete(start));
    return {
      call(listener) {
        started();
        if (active) isolate(listener);
      },
      stop() {
        active = false;
      },
    };
  }

  /** Waits until each has been called once. */
  async started(): Promise<void> {
    await Promise.all(this.#starting);
  }
}
