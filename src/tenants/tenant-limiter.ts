/** Limits how much of the process one tenant's requests can use. */
import { Semaphore } from '../limits/semaphore.js';
import type { ConcurrencyShares } from './concurrency-shares.js';
import type { FloodLimiter } from './flood-limiter.js';

/** The number of a tenant's requests that are processed concurrently. */
const permits = 4;
/** A request that takes longer waits for something outside this process, such as a lock or a change. */
const maxHoldMs = 100;

/**
 * Limits a tenant's concurrent requests. A tenant that floods the process gets only the capacity that others leave. A
 * request that is blocked for long releases its permit, so that it does not block other requests.
 */
export class TenantLimiter {
  readonly #semaphore = new Semaphore({
    permits,
    maxWaiting: 1_000,
    maxWaitMs: 10_000,
    defaultDurationMs: 10,
    refusal: 'Too many requests of this tenant are being served; try again later',
  });
  readonly #tenant: string;
  readonly #floodLimiter: FloodLimiter;
  readonly #shares: ConcurrencyShares;

  constructor(tenant: string, floodLimiter: FloodLimiter, shares: ConcurrencyShares) {
    this.#tenant = tenant;
    this.#floodLimiter = floodLimiter;
    this.#shares = shares;
  }

  /**
   * Runs the work of a request.
   * @param signalOf returns a signal that aborts when the client disconnects
   * @throws the errors of `Semaphore.acquire`, and those of the work
   */
  async run<T>(work: () => Promise<T>, signalOf: () => AbortSignal): Promise<T> {
    const release = await this.#semaphore.acquire(undefined, signalOf);
    const isFlooded = this.#semaphore.waiting > 0 && !this.#floodLimiter.isOnlyActive(this.#tenant, performance.now());
    const releaseShare = isFlooded ? await this.#shares.acquire() : undefined;
    const started = performance.now();
    const working = work();
    let hasEnded = false;
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(timer);
      const now = performance.now();
      if (releaseShare) releaseShare(now - started);
      else if (this.#semaphore.waiting === 0) this.#floodLimiter.recordLatency(this.#tenant, now - started, now);
      release();
    };
    const timer = setTimeout(end, maxHoldMs);
    working.then(end, end);
    return working;
  }
}
