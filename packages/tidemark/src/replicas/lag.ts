/** Measures the lag of standbys by the clock of this process. Pure. */

/** The maximum age of samples, in milliseconds. A standby that lags more appears to lag by about this much. */
const maxAgeMs = 60_000;

interface WalTimeSample {
  readonly at: number;
  readonly position: bigint;
}

/** Samples of the end of the primary's write-ahead log. */
export class LagTracker {
  #samples: readonly WalTimeSample[] = [];

  /** Adds the end of the log, which was read at this time or later, in milliseconds of a monotonic clock. */
  add(at: number, position: bigint): void {
    const last = this.#samples.at(-1);
    // After a failover, the log may end at a lower position, because its end was lost.
    const samples = last && last.position > position ? [] : this.#samples;
    this.#samples = [...samples.filter((sample) => at - sample.at < maxAgeMs), { at, position }];
  }

  /** Returns for how many milliseconds a standby has been behind, if it has replayed the log up to a position. */
  lagMs(replayed: bigint, now: number): number {
    const missing = this.#samples.find(({ position }) => position > replayed);
    return missing ? now - missing.at : 0;
  }
}
