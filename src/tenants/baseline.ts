/** The usual duration of a tenant's requests. */

/** The maximum and minimum number of recent requests that determine it. */
const maxSamples = 64;
const minSamples = 16;
/** The fraction of these that counts as slow. */
const slowFraction = 1 / 16;

/** The durations of a tenant's most recent requests. */
export class Baseline {
  readonly #samples: number[] = [];
  #next = 0;
  #slowThresholdMs: number | undefined;

  /** The duration that one in sixteen requests reaches, in milliseconds; undefined while there are too few samples. */
  get slowThresholdMs(): number | undefined {
    if (this.#samples.length < minSamples) return undefined;
    this.#slowThresholdMs ??= this.#samples.toSorted((a, b) => b - a)[
      Math.floor(this.#samples.length * slowFraction) - 1
    ];
    return this.#slowThresholdMs;
  }

  add(ms: number): void {
    this.#samples[this.#next] = ms;
    this.#next = (this.#next + 1) % maxSamples;
    this.#slowThresholdMs = undefined;
  }
}
