import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** How often the event loop is looked at, in milliseconds. */
const resolution = 10;

/** For how long the event loop was held up. */
export class EventLoopLag {
  readonly #eventLoop: IntervalHistogram = monitorEventLoopDelay({ resolution });

  /** The longest time since this was last called, in seconds. Watching takes time, so it begins with the first call. */
  read(): number {
    this.#eventLoop.enable();
    const { max } = this.#eventLoop;
    this.#eventLoop.reset();
    return Math.max(0, max / 1e9 - resolution / 1e3);
  }

  end(): void {
    this.#eventLoop.disable();
  }
}
