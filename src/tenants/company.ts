/** Who else has requests, and whether a flood makes these take longer. Pure: times come in, in milliseconds. */

/** For so long after another tenant's last request, a tenant is not alone: the next one must find the process free. */
const memoryMs = 1_000;

/** How much the usual duration of a tenant's requests is changed by each, otherwise and during a flood. */
const weight = { calm: 1 / 32, flood: 1 / 5_000 };
/** How much each request of the others changes what they are taken to suffer. */
const slowdownWeight = 1 / 256;
/** What takes less than this many milliseconds is taken to take as long. */
const leastMs = 0.1;
/** How many times as long as usual the others' requests may take. */
const tolerated = 1.1;

/** For how many times as long as a request took its place rests: at first, and at most. */
const rest = { first: 8, most: 64 };
/** By what it grows with each request while the others suffer, and shrinks otherwise. */
const growth = { factor: 1.05, step: 0.1 };
const decay = 0.998;
const longestRestMs = 500;

interface Begun {
  readonly tenant: string;
  readonly at: number;
}

/**
 * The requests of all tenants. Those of a flooded one, which always wait, get what the others leave: so little that these take
 * hardly longer than usual, whether it is the process that is busy or a database server. On means of logarithms, so that
 * it does not matter how different the requests are.
 * @see https://www.rfc-editor.org/rfc/rfc6817 (LEDBAT: who transfers in the background yields as soon as delays grow)
 */
export class Company {
  #newest: Begun | undefined;
  /** The newest one of another tenant than that. */
  #other: Begun | undefined;
  /** By tenant: the logarithm of what its requests usually take. */
  readonly #usual = new Map<string, number>();
  /** How many times as long as usual requests take, as a logarithm. */
  #slowdown = 0;
  #rest = rest.first;
  #floodedAt = Number.NEGATIVE_INFINITY;

  /** To be called when a request of a tenant comes. */
  note(tenant: string, now: number): void {
    if (this.#newest?.tenant !== tenant) this.#other = this.#newest;
    this.#newest = { tenant, at: now };
  }

  /** Whether no other tenant has had a request in the last second. */
  isAlone(tenant: string, now: number): boolean {
    const last = this.#newest?.tenant === tenant ? this.#other : this.#newest;
    return last === undefined || now - last.at >= memoryMs;
  }

  /** To be called when a request has been served of a tenant of which no others wait. */
  noteServed(tenant: string, tookMs: number, now: number): void {
    const took = Math.log(Math.max(tookMs, leastMs));
    const usual = this.#usual.get(tenant) ?? took;
    const isFlooded = now - this.#floodedAt < memoryMs;
    this.#usual.set(tenant, usual + (isFlooded ? weight.flood : weight.calm) * (took - usual));
    this.#slowdown += slowdownWeight * (took - usual - this.#slowdown);
  }

  /** For how long the place of a request rests that has been served while others of its tenant wait. */
  restMs(tookMs: number, now: number): number {
    this.#floodedAt = now;
    const suffer = this.#slowdown > Math.log(tolerated);
    this.#rest = suffer ? Math.min(this.#rest * growth.factor + growth.step, rest.most) : this.#rest * decay;
    return Math.min(this.#rest * tookMs, longestRestMs);
  }

  /** To be called when a tenant is closed. */
  forget(tenant: string): void {
    this.#usual.delete(tenant);
  }
}
