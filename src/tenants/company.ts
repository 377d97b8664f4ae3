/** Who else has requests, and whether a flood makes these take longer. Pure: times come in, in milliseconds. */
import { RecentMean } from './recent-mean.js';
import { Usual } from './usual.js';

/** For so long after another tenant's last request, a tenant is not alone: the next one must find the process free. */
const memoryMs = 1_000;
/** What the others suffer is what they do in about this time. */
const sufferingMs = 1_000;
/** What is usual is what they do in about this time without a flood. */
const usualMs = 20_000;
/** How many times as many of their requests as usually may take long; and what part of them may, however few usually do. */
const tolerated = { times: 6 / 5, least: 1 / 32 };

/** How many requests of flooded tenants may be served at once; less than one is one with rests. */
const allowed = { least: 1 / 32, first: 1 / 4, most: 8 };
/** By how much the logarithm of that changes in a second, for each unit by which the others suffer less than is tolerated. */
const gain = 12;
const longestRestMs = 500;

/** A flood that is held back pauses now and then, to show what the others' requests usually take. */
const pause = { everyMs: 30_000, ms: 2_000 };

interface Begun {
  readonly tenant: string;
  readonly at: number;
}

/**
 * The requests of all tenants. Those of flooded ones, which always wait, get what the others leave: so little that hardly more
 * of these take long than usually, whether it is the process that is busy or a database server.
 * @see https://www.rfc-editor.org/rfc/rfc6817 (LEDBAT: who transfers in the background yields as soon as delays grow)
 * @see https://doi.org/10.1145/3012426.3022184 (BBR: pauses, to learn what the delay is without one's own transfer)
 */
export class Company {
  #newest: Begun | undefined;
  /** The newest one of another tenant than that. */
  #other: Begun | undefined;
  /** By tenant, while no flood goes on. */
  readonly #usual = new Map<string, Usual>();
  /** The part of the requests that take long; and the part that does without a flood. */
  readonly #suffering = new RecentMean(sufferingMs);
  readonly #usualSuffering = new RecentMean(usualMs);
  /** While a flood goes on. */
  #tolerated = tolerated.least;
  #allowed = allowed.first;
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
    const usual = this.#usual.get(tenant) ?? new Usual();
    this.#usual.set(tenant, usual);
    const isFlooded = this.#isFlooded(now);
    if (usual.longestMs !== undefined) {
      const suffering = Number(tookMs > usual.longestMs);
      this.#suffering.add(suffering, now);
      if (!isFlooded) this.#usualSuffering.add(suffering, now);
    }
    if (!isFlooded) usual.add(tookMs);
  }

  /** How many requests of flooded tenants may be served at once. */
  get turns(): number {
    return Math.ceil(this.#allowed);
  }

  /** To be called when such a request has been served; returns for how long its turn rests. */
  restMs(tookMs: number, now: number): number {
    if (!this.#isFlooded(now)) this.#beginFlood(now);
    if (this.turns === 1 && now - this.#floodedSince >= pause.everyMs) {
      this.#floodedSince = now;
      this.#pausedUntil = now + pause.ms;
    }
    if (now < this.#pausedUntil) return this.#pausedUntil - now;
    this.#adapt(now);
    this.#floodedAt = now;
    return Math.min((this.turns / this.#allowed - 1) * tookMs, longestRestMs);
  }

  /** To be called when a tenant is closed. */
  forget(tenant: string): void {
    this.#usual.delete(tenant);
  }

  #isFlooded(now: number): boolean {
    return now - this.#floodedAt < memoryMs;
  }

  #beginFlood(now: number): void {
    this.#floodedSince = now;
    this.#tolerated = Math.max(tolerated.times * (this.#usualSuffering.last ?? 0), tolerated.least);
  }

  #adapt(now: number): void {
    const suffering = this.#suffering.at(now);
    if (suffering === undefined) {
      this.#allowed = allowed.first;
    } else {
      const seconds = Math.min(now - this.#floodedAt, longestRestMs) / 1_000;
      const changed = this.#allowed * Math.exp(gain * (this.#tolerated - suffering) * seconds);
      this.#allowed = Math.min(Math.max(changed, allowed.least), allowed.most);
    }
  }
}
