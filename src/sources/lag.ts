/** How far a standby is behind, by the clock of this process. Pure. */

/** How long positions are remembered, in milliseconds. Beyond that, a standby is at least so far behind. */
const keptMs = 60_000;

interface Mark {
  readonly at: number;
  readonly position: bigint;
}

/** Where the primary's write-ahead log ended, time after time. */
export class Marks {
  #marks: readonly Mark[] = [];

  /** The log ended there no later than at a time, in milliseconds of a clock that does not go back. */
  add(at: number, position: bigint): void {
    const last = this.#marks.at(-1);
    // After a failover, the log may end before what was lost.
    const known = last && last.position > position ? [] : this.#marks;
    this.#marks = [...known.filter((mark) => at - mark.at < keptMs), { at, position }];
  }

  /** For how many milliseconds a standby has not shown everything, if it has replayed the log up to a position. */
  lagMs(replayed: bigint, now: number): number {
    const missing = this.#marks.find(({ position }) => position > replayed);
    return missing ? now - missing.at : 0;
  }
}
