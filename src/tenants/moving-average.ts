/** An average in which older values count less. After `timeConstantMs`, a value counts 1/e of a new one. */
export class MovingAverage {
  readonly #timeConstantMs: number;
  #sum = 0;
  #count = 0;
  #updatedAt = Number.NEGATIVE_INFINITY;

  constructor(timeConstantMs: number) {
    this.#timeConstantMs = timeConstantMs;
  }

  add(value: number, now: number): void {
    const decay = Math.exp((this.#updatedAt - now) / this.#timeConstantMs);
    this.#sum = this.#sum * decay + value;
    this.#count = this.#count * decay + 1;
    this.#updatedAt = now;
  }

  /** The average at the time of the last value; undefined if there has been none. */
  get last(): number | undefined {
    return this.#count > 0 ? this.#sum / this.#count : undefined;
  }

  /** Returns the average, or undefined if the last value is at least `timeConstantMs` old. */
  at(now: number): number | undefined {
    return now - this.#updatedAt < this.#timeConstantMs ? this.last : undefined;
  }
}
