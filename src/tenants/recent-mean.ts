/** A mean in which a value counts ever less as it ages: after `memoryMs`, 1/e of a new one. */
export class RecentMean {
  readonly #memoryMs: number;
  #sum = 0;
  #count = 0;
  #at = Number.NEGATIVE_INFINITY;

  constructor(memoryMs: number) {
    this.#memoryMs = memoryMs;
  }

  add(value: number, now: number): void {
    const kept = Math.exp((this.#at - now) / this.#memoryMs);
    this.#sum = this.#sum * kept + value;
    this.#count = this.#count * kept + 1;
    this.#at = now;
  }

  /** As of the last value; undefined if there has been none. */
  get last(): number | undefined {
    return this.#count > 0 ? this.#sum / this.#count : undefined;
  }

  /** Undefined if there has been no value for `memoryMs`. */
  at(now: number): number | undefined {
    return now - this.#at < this.#memoryMs ? this.last : undefined;
  }
}
