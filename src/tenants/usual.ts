/** What a tenant's requests usually take. */

/** Of how many requests that is known: the last ones. */
const most = 64;
const fewest = 16;
/** What part of these takes longer than counts as usual. */
const longPart = 1 / 16;

/** The durations of a tenant's last requests. */
export class Usual {
  readonly #lastMs: number[] = [];
  #next = 0;
  #longestMs: number | undefined;

  /** What only one in sixteen of its requests takes longer than, in milliseconds; undefined while too few are known. */
  get longestMs(): number | undefined {
    if (this.#lastMs.length < fewest) return undefined;
    this.#longestMs ??= this.#lastMs.toSorted((a, b) => b - a)[Math.floor(this.#lastMs.length * longPart) - 1];
    return this.#longestMs;
  }

  add(ms: number): void {
    this.#lastMs[this.#next] = ms;
    this.#next = (this.#next + 1) % most;
    this.#longestMs = undefined;
  }
}
