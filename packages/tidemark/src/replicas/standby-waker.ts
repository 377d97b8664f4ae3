/** The times at which a standby can be expected to show a commit, in milliseconds after it. */
const afterMs = [0, 2, 5, 10, 20, 50, 100];

/** A poke notifier to wake after a commit, whose time is given by `performance.now()`. */
interface Wakeable {
  wake(committedAt: number): void;
}

/** The minimum pause between two wakes, in milliseconds. */
const minPauseMs = 2;

/** Wakes the notifiers of standbys repeatedly after a commit, until the standbys can be expected to show it. */
export class StandbyWaker {
  readonly #targets: () => Iterable<Wakeable>;
  #timer: NodeJS.Timeout | undefined;
  /** The number of wakes since the last commit, and the time of that commit. */
  #done = 0;
  #committedAt = 0;
  #wokenAt = Number.NEGATIVE_INFINITY;

  /** @param targets returns the targets to wake now */
  constructor(targets: () => Iterable<Wakeable>) {
    this.#targets = targets;
  }

  wake(): void {
    const now = performance.now();
    this.#committedAt = now;
    this.#done = 0;
    const pauseMs = this.#wokenAt + minPauseMs - now;
    clearTimeout(this.#timer);
    if (pauseMs > 0) this.#timer = setTimeout(() => this.#next(), pauseMs);
    else this.#next();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #next(): void {
    this.#wokenAt = performance.now();
    for (const one of this.#targets()) one.wake(this.#committedAt);
    const last = afterMs[this.#done++]!;
    const next = afterMs[this.#done];
    if (next !== undefined) this.#timer = setTimeout(() => this.#next(), next - last);
  }
}
