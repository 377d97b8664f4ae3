/** When a standby can be expected to show what has been committed, in milliseconds after the commit. */
const afterMs = [0, 2, 5, 10, 20, 50, 100];

/** Who is told that something has been committed, when that was, by `performance.now()`. */
interface Nudged {
  nudge(committedAt: number): void;
}

/** Nudges are no closer to each other than this, in milliseconds. */
const leastPauseMs = 2;

/** Nudges again and again after a commit, until standbys can be expected to show it. */
export class Nudges {
  readonly #nudged: () => Iterable<Nudged>;
  #timer: NodeJS.Timeout | undefined;
  /** How many times it has been done since the last commit, and when that was. */
  #done = 0;
  #committedAt = 0;
  #nudgedAt = Number.NEGATIVE_INFINITY;

  /** @param nudged returns who is to be nudged now */
  constructor(nudged: () => Iterable<Nudged>) {
    this.#nudged = nudged;
  }

  nudge(): void {
    const now = performance.now();
    this.#committedAt = now;
    this.#done = 0;
    const pauseMs = this.#nudgedAt + leastPauseMs - now;
    clearTimeout(this.#timer);
    if (pauseMs > 0) this.#timer = setTimeout(() => this.#next(), pauseMs);
    else this.#next();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #next(): void {
    this.#nudgedAt = performance.now();
    for (const one of this.#nudged()) one.nudge(this.#committedAt);
    const last = afterMs[this.#done++]!;
    const next = afterMs[this.#done];
    if (next !== undefined) this.#timer = setTimeout(() => this.#next(), next - last);
  }
}
