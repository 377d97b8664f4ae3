const firstRetryMs = 50;
const longestRetryMs = 1_000;
const longestRestMs = 500;

/** When the tail is to look next. Pure: moments come in and go out, in milliseconds. */
export class LookTimes {
  readonly #intervalMs: number;
  #begunAt = 0;
  #restUntil = 0;
  #failures = 0;
  #isNudged = false;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  begin(now: number): void {
    this.#begunAt = now;
    this.#isNudged = false;
  }

  /** Looks leave two thirds of the time to others. One that was held up is no reason to be late for long. */
  succeed(now: number): void {
    this.#failures = 0;
    this.#restUntil = now + Math.min(2 * (now - this.#begunAt), longestRestMs);
  }

  /** @returns whether the look before it had not failed */
  fail(): boolean {
    this.#restUntil = 0;
    return this.#failures++ === 0;
  }

  /** There is something to see: at once, or, where the last look has failed, nearly so. */
  nudge(): void {
    this.#isNudged = true;
  }

  due(): number {
    return Math.max(this.#restUntil, this.#begunAt + this.#pauseMs());
  }

  #pauseMs(): number {
    if (this.#failures === 0) return this.#isNudged ? 0 : this.#intervalMs;
    return this.#isNudged ? firstRetryMs : Math.min(firstRetryMs * 2 ** this.#failures, longestRetryMs);
  }
}
