/** When a standby can be expected to show what has been committed, in milliseconds after the commit. */
const afterMs = [0, 2, 5, 10, 20, 50, 100];

/** Who is told that something has been committed, when that was, by `performance.now()`. */
interface Nudged {
  nudge(committedAt: number): void;
}

/** Nudges again and again after a commit, until standbys can be expected to show it. */
export class Nudges {
  readonly #nudged: () => Iterable<Nudged>;
  #timer: NodeJS.Timeout | undefined;
  #begun = 0;
  #committedAt = 0;

  /** @param nudged returns who is to be nudged now */
  constructor(nudged: () => Iterable<Nudged>) {
    this.#nudged = nudged;
  }

  nudge(): void {
    this.#committedAt = performance.now();
    this.#begun = 0;
    if (this.#timer === undefined) this.#next();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #next(): void {
    for (const one of this.#nudged()) one.nudge(this.#committedAt);
    const pauseMs = (afterMs[++this.#begun] ?? Number.POSITIVE_INFINITY) - afterMs[this.#begun - 1]!;
    this.#timer = Number.isFinite(pauseMs) ? setTimeout(() => this.#next(), pauseMs) : undefined;
  }
}
