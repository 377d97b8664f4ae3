/** Measures how much a flood of requests slows the other tenants. Pure: callers pass times in milliseconds. */

import { Baseline } from './baseline.js';
import { MovingAverage } from './moving-average.js';

/** How long after its last request a tenant counts as active. Its next request must find the process free. */
const activeMs = 1_000;
/** The time constant of the average fraction of slow requests. */
const slowFractionMs = 1_000;
/** The time constant of its baseline, the average without a flood. */
const baselineMs = 20_000;
/** The tolerated fraction of slow requests during a flood: `factor` times the baseline, at least `min`. */
const slowFractionLimit = { factor: 6 / 5, min: 1 / 32 };

/** The number of flooding tenants' requests served concurrently. Below one: one at a time, with cooldowns. */
const concurrency = { min: 1 / 32, initial: 1 / 4, max: 8 };
/** The change of that number's logarithm per second, for each unit by which the slow fraction is below its maximum. */
const gain = 12;
const maxCooldownMs = 500;

/** A throttled flood pauses regularly, to measure how long the other tenants' requests take without it. */
const pause = { everyMs: 30_000, ms: 2_000 };

interface Arrival {
  readonly tenant: string;
  readonly at: number;
}

/**
 * Throttles flooding tenants, which always have waiting requests, so that hardly more requests of the other tenants are
 * slow than without the flood. It does not matter whether the process or a database server is the bottleneck.
 * @see https://www.rfc-editor.org/rfc/rfc6817 (LEDBAT: background transfers yield as soon as delays grow)
 * @see https://doi.org/10.1145/3012426.3022184 (BBR: pauses, to measure the delay without its own transfer)
 */
export class FloodLimiter {
  #lastArrival: Arrival | undefined;
  /** The newest arrival of a different tenant than that of `lastArrival`. */
  #lastOtherArrival: Arrival | undefined;
  /** By tenant, measured while there is no flood. */
  readonly #baselines = new Map<string, Baseline>();
  /** The average fraction of slow requests, and its baseline without a flood. */
  readonly #slowFraction = new MovingAverage(slowFractionMs);
  readonly #baselineSlowFraction = new MovingAverage(baselineMs);
  /** Limits during a flood. */
  #maxSlowFraction = slowFractionLimit.min;
  #concurrency = concurrency.initial;
  #floodedSince = 0;
  #floodedAt = Number.NEGATIVE_INFINITY;
  #pausedUntil = 0;

  /** Records the arrival of a tenant's request. */
  recordArrival(tenant: string, now: number): void {
    if (this.#lastArrival?.tenant !== tenant) this.#lastOtherArrival = this.#lastArrival;
    this.#lastArrival = { tenant, at: now };
  }

  /** True if no other tenant has had a request in the last second. */
  isOnlyActive(tenant: string, now: number): boolean {
    const last = this.#lastArrival?.tenant === tenant ? this.#lastOtherArrival : this.#lastArrival;
    return last === undefined || now - last.at >= activeMs;
  }

  /** Records the duration of a request, for a tenant that has no waiting requests. */
  recordLatency(tenant: string, durationMs: number, now: number): void {
    const baseline = this.#baselines.get(tenant) ?? new Baseline();
    this.#baselines.set(tenant, baseline);
    const isFlooded = this.#isFlooded(now);
    if (baseline.slowThresholdMs !== undefined) {
      const sample = Number(durationMs > baseline.slowThresholdMs);
      this.#slowFraction.add(sample, now);
      if (!isFlooded) this.#baselineSlowFraction.add(sample, now);
    }
    if (!isFlooded) baseline.add(durationMs);
  }

  /** The number of flooding tenants' requests that may be served concurrently. */
  get maxConcurrency(): number {
    return Math.ceil(this.#concurrency);
  }

  /** Records the duration of a flooding tenant's request. Returns how long its share then stays unused. */
  cooldownMs(durationMs: number, now: number): number {
    if (!this.#isFlooded(now)) this.#beginFlood(now);
    if (this.maxConcurrency === 1 && now - this.#floodedSince >= pause.everyMs) {
      this.#floodedSince = now;
      this.#pausedUntil = now + pause.ms;
    }
    if (now < this.#pausedUntil) return this.#pausedUntil - now;
    this.#adapt(now);
    this.#floodedAt = now;
    return Math.min((this.maxConcurrency / this.#concurrency - 1) * durationMs, maxCooldownMs);
  }

  /** Removes the baseline of a tenant that has been closed. */
  forget(tenant: string): void {
    this.#baselines.delete(tenant);
  }

  #isFlooded(now: number): boolean {
    return now - this.#floodedAt < activeMs;
  }

  #beginFlood(now: number): void {
    this.#floodedSince = now;
    this.#maxSlowFraction = Math.max(
      slowFractionLimit.factor * (this.#baselineSlowFraction.last ?? 0),
      slowFractionLimit.min,
    );
  }

  #adapt(now: number): void {
    const slowFraction = this.#slowFraction.at(now);
    if (slowFraction === undefined) {
      this.#concurrency = concurrency.initial;
    } else {
      const seconds = Math.min(now - this.#floodedAt, maxCooldownMs) / 1_000;
      const adapted = this.#concurrency * Math.exp(gain * (this.#maxSlowFraction - slowFraction) * seconds);
      this.#concurrency = Math.min(Math.max(adapted, concurrency.min), concurrency.max);
    }
  }
}
