import type { PollPacer } from '../limits/poll-pacer.js';

const firstRetryMs = 50;
const maxRetryMs = 1_000;
const maxRestMs = 500;
const burstRatio = 16;
const quietRatio = 800;
const attentiveRatio = 30;
const minPauseMs = 5;

/**
 * Returns the pause between two polls in milliseconds, depending on the time since the last change. During a burst of
 * changes it is a 16th of that time, at least 5 ms. Then it stays at a 30th of the interval, so that a poll soon finds
 * the first change after a quiet period. After many seconds it grows to the interval.
 */
function pauseAfter(sinceChangeMs: number, intervalMs: number): number {
  const attentiveMs = Math.min(sinceChangeMs / burstRatio, intervalMs / attentiveRatio);
  return Math.min(Math.max(attentiveMs, sinceChangeMs / quietRatio, minPauseMs), intervalMs);
}

/** Decides when the poke notifier polls next. Pure: callers pass and receive times in milliseconds. */
export class PollSchedule {
  readonly #intervalMs: number;
  readonly #pacer: PollPacer | undefined;
  #begunAt = 0;
  #lastChangeAt = Number.NEGATIVE_INFINITY;
  #restUntil = 0;
  #failures = 0;
  #isWoken = false;

  /** @param intervalMs the maximum time between the starts of two polls */
  constructor(intervalMs: number, pacer?: PollPacer) {
    this.#intervalMs = intervalMs;
    this.#pacer = pacer;
  }

  begin(now: number): void {
    this.#begunAt = now;
    this.#isWoken = false;
  }

  /**
   * Records a successful poll. Polls that search for affected subscribers leave two thirds of the time to other work,
   * but a blocked one must not delay the next for long. A poll that found nothing was cheap, even if it was blocked.
   */
  succeed(now: number, hadChanges: boolean): void {
    this.#failures = 0;
    if (hadChanges) this.#lastChangeAt = this.#begunAt;
    this.#restUntil = hadChanges ? now + Math.min(2 * (now - this.#begunAt), maxRestMs) : 0;
  }

  /** @returns true if this is the first failure in a row */
  fail(): boolean {
    this.#restUntil = 0;
    return this.#failures++ === 0;
  }

  /** Makes a poll due immediately or, if the last poll failed, soon. */
  wake(): void {
    this.#isWoken = true;
  }

  due(): number {
    return Math.max(this.#restUntil, this.#begunAt + this.#pauseMs());
  }

  #pauseMs(): number {
    if (this.#failures > 0) {
      return this.#isWoken ? firstRetryMs : Math.min(firstRetryMs * 2 ** this.#failures, maxRetryMs);
    }
    if (this.#isWoken) return 0;
    const intervalMs = this.#pacer?.pollIntervalMs(this.#intervalMs) ?? this.#intervalMs;
    return pauseAfter(this.#begunAt - this.#lastChangeAt, intervalMs);
  }
}
