import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** The interval at which the event loop is sampled, in milliseconds. */
const resolution = 10;

/** Measures how long the event loop was blocked. */
export class EventLoopLag {
  readonly #eventLoop: IntervalHistogram = monitorEventLoopDelay({ resolution });

  /** Returns the longest delay since the last call, in seconds. The first call starts monitoring, which has a cost. */
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
