const firstRetryMs = 50;
const longestRetryMs = 1_000;
const longestRestMs = 500;
const burstRatio = 16;
const quietRatio = 800;
const attentiveRatio = 30;
const minPauseMs = 5;

/**
 * The pause between two looks in milliseconds, by the time since the last change. During a burst of changes it is a 16th of
 * that time, at least 5 ms. Then it stays at a 30th of the interval, so that the first change after a quiet moment is seen
 * soon. After many seconds it grows to the interval.
 */
export function pauseAfter(sinceNewsMs: number, intervalMs: number): number {
  const attentiveMs = Math.min(sinceNewsMs / burstRatio, intervalMs / attentiveRatio);
  return Math.min(Math.max(attentiveMs, sinceNewsMs / quietRatio, minPauseMs), intervalMs);
}

/** Decides when the tail looks next. Pure: times come in and go out, in milliseconds. */
export class LookTimes {
  readonly #intervalMs: () => number;
  #begunAt = 0;
  #newsAt = Number.NEGATIVE_INFINITY;
  #restUntil = 0;
  #failures = 0;
  #isNudged = false;

  /** @param intervalMs returns the longest time between the beginnings of two looks */
  constructor(intervalMs: () => number) {
    this.#intervalMs = intervalMs;
  }

  begin(now: number): void {
    this.#begunAt = now;
    this.#isNudged = false;
  }

  /**
   * Looks that ask whom changes concern leave two thirds of the time to others. One that was held up must not delay the
   * next one for long. A look that found nothing has cost next to nothing, however long it was held up.
   */
  succeed(now: number, hadNews: boolean): void {
    this.#failures = 0;
    if (hadNews) this.#newsAt = this.#begunAt;
    this.#restUntil = hadNews ? now + Math.min(2 * (now - this.#begunAt), longestRestMs) : 0;
  }

  /** @returns whether this is the first failure in a row */
  fail(): boolean {
    this.#restUntil = 0;
    return this.#failures++ === 0;
  }

  /** There is something to see: look at once or, if the last look failed, soon. */
  nudge(): void {
    this.#isNudged = true;
  }

  due(): number {
    return Math.max(this.#restUntil, this.#begunAt + this.#pauseMs());
  }

  #pauseMs(): number {
    if (this.#failures > 0) {
      return this.#isNudged ? firstRetryMs : Math.min(firstRetryMs * 2 ** this.#failures, longestRetryMs);
    }
    if (this.#isNudged) return 0;
    return pauseAfter(this.#begunAt - this.#newsAt, this.#intervalMs());
  }
}
