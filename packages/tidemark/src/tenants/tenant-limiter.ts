/** Limits how much of the process one tenant's requests can use. */
import { Semaphore } from '../limits/semaphore.js';

/** The number of a tenant's requests that are processed concurrently. */
const permits = 4;
/** A request that takes longer waits for something outside this process, such as a lock or a change. */
const maxHoldMs = 100;

/**
 * Limits a tenant's concurrent requests, so that a flood leaves most of the process to the others. A request that is
 * blocked for long releases its permit, so that it does not block other requests.
 */
export class TenantLimiter {
  readonly #semaphore = new Semaphore({
    permits,
    maxWaiting: 1_000,
    maxWaitMs: 10_000,
    defaultDurationMs: 10,
    refusal: 'Too many requests of this tenant are being served; try again later',
  });

  /**
   * Runs the work of a request.
   * @param request its signal aborts when the client disconnects; undefined if code of the server makes the request
   * @throws the errors of `Semaphore.acquire`, and those of the work
   */
  async run<T>(work: () => Promise<T>, request?: Pick<Request, 'signal'>): Promise<T> {
    const release = await this.#semaphore.acquire(undefined, request);
    const timer = setTimeout(release, maxHoldMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      release();
    }
  }
}
