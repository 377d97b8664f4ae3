/** Who else has requests, and whether a flood makes these take longer. Pure: times come in, in milliseconds. */
import { RecentMean } from './recent-mean.js';

/** For so long after another tenant's last request, a tenant is not alone: the next one must find the process free. */
const memoryMs = 1_000;

/** What a tenant's requests usually take is a mean of at least, and about, so many. */
const usualOf = { least: 8, most: 32 };
/** What takes less than this many milliseconds is taken to take as long. */
const leastMs = 0.1;
/** What the others suffer is what they do in about this time. */
const sufferingMs = 1_000;
/** How many times as long as usual the others' requests may take. */
const tolerated = 1.1;

/** For how many times as long as a request took its place rests; at first, while nobody knows what the others suffer. */
const rest = { least: 0.01, first: 8, most: 64 };
const longestRestMs = 500;
/** By how much its logarithm changes in a second, for each unit by which that of the slowdown is off what is tolerated. */
const gain = { above: 12, below: 3 };

/** A flood that is held back pauses now and then, to show what the others' requests usually take. */
const pause = { everyMs: 30_000, ms: 2_000 };

/** A mean of logarithms. */
interface Usual {
  took: number;
  count: number;
}

interface Begun {
  readonly tenant: string;
  readonly at: number;
}

/**
 * The requests of all tenants. Those of a flooded one, which always wait, get what the others leave: so little that these take
 * hardly longer than usual, whether it is the process that is busy or a database server. On means of logarithms, so that
 * it does not matter how different the requests are.
 * @see https://www.rfc-editor.org/rfc/rfc6817 (LEDBAT: who transfers in the background yields as soon as delays grow)
 * @see https://doi.org/10.1145/3012426.3022184 (BBR: pauses, to learn what the delay is without one's own transfer)
 */
export class Company {
  #newest: Begun | undefined;
  /** The newest one of another tenant than that. */
  #other: Begun | undefined;
  /** By tenant: what its requests take while no flood goes on. */
  readonly #usual = new Map<string, Usual>();
  /** How many times as long as usual requests take, as a logarithm. */
  readonly #slowdown = new RecentMean(sufferingMs);
  #rest = rest.first;
  #floodedSince = 0;
  #floodedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = 0;

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
    const usual = this.#usual.get(tenant);
    if (usual && usual.count >= usualOf.least) this.#slowdown.add(took - usual.took, now);
    if (!this.#isFlooded(now)) this.#usual.set(tenant, learn(usual, took));
  }

  /** For how long the place of a request rests that has been served while others of its tenant wait. */
  restMs(tookMs: number, now: number): number {
    if (!this.#isFlooded(now)) this.#floodedSince = now;
    if (this.#rest > 1 && now - this.#floodedSince >= pause.everyMs) {
      this.#floodedSince = now;
      this.#pausedUntil = now + pause.ms;
    }
    if (now < this.#pausedUntil) return this.#pausedUntil - now;
    this.#adapt(now);
    this.#floodedAt = now;
    return Math.min(this.#rest * tookMs, longestRestMs);
  }

  /** To be called when a tenant is closed. */
  forget(tenant: string): void {
    this.#usual.delete(tenant);
  }

  #isFlooded(now: number): boolean {
    return now - this.#floodedAt < memoryMs;
  }

  #adapt(now: number): void {
    const slowdown = this.#slowdown.at(now);
    if (slowdown === undefined) {
      this.#rest = rest.first;
    } else {
      const off = slowdown - Math.log(tolerated);
      const seconds = Math.min(now - this.#floodedAt, longestRestMs) / 1_000;
      const changed = this.#rest * Math.exp((off > 0 ? gain.above : gain.below) * off * seconds);
      this.#rest = Math.min(Math.max(changed, rest.least), rest.most);
    }
  }
}

function learn(usual: Usual = { took: 0, count: 0 }, took: number): Usual {
  const count = Math.min(usual.count + 1, usualOf.most);
  return { took: usual.took + (took - usual.took) / count, count };
}
