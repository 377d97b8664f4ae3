/** The minimum interval for each sync with subscribers: when idle, all together poll at most 100 times a second. */
const msPerSync = 10;

/** Limits the rate at which several syncs in one process poll their databases. */
export class PollPacer {
  /** The number of syncs with subscribers. */
  subscribedCount = 0;

  /** Returns the poll interval of a sync in milliseconds, given the one that it would use alone. */
  pollIntervalMs(aloneMs: number): number {
    return Math.max(aloneMs, msPerSync * this.subscribedCount);
  }
}
