/** Keeps work of one kind from taking all connections, and one user from taking all permits. */
import { Deferred } from '../deferred.js';
import { Problem } from '../errors.js';

/** Releases a permit. Further calls have no effect. */
export type Release = () => void;

/** The options of `Semaphore`. */
export interface SemaphoreOptions {
  /** The number of permits. */
  readonly permits: number;
  /** The maximum number of waiters; of one user, a tenth. */
  readonly maxWaiting: number;
  /** The maximum wait, in milliseconds. Refuses immediately if the expected wait is longer. */
  readonly maxWaitMs: number;
  /** The assumed duration of work, in milliseconds, until enough durations have been measured. */
  readonly defaultDurationMs: number;
  /** The message for refused requests. */
  readonly refusal: string;
}

/** No permit is free, and none will be in time. */
export class NoPermitError extends Problem {}

/**
 * The number of recent durations whose median predicts the next one. When very many requests arrive at the same time,
 * this process is briefly busy, and running work seems to take a hundred times as long. That must not cause refusals.
 */
const sampleCount = 31;
/** In seconds. */
const maxRetryAfter = 60;

/** One user leaves a permit to others, if there are more than two. */
function permitsPerUser(permits: number): number {
  return Math.max(2, permits - 1);
}

/** The number of requests of one user. */
interface UserCounts {
  running: number;
  waiting: number;
}

/** A request that waits for a permit. */
interface Waiter {
  readonly userID: string | undefined;
  readonly counts: UserCounts;
  readonly permit: Deferred<Release>;
}

/**
 * Grants a limited number of permits. A limited number of requests wait, for a limited time. The next permit goes to
 * the user with the fewest permits; among equals, to the oldest request. All other requests are refused with a time to
 * retry, each later than the previous one, so that they do not all return at the same time.
 */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  #running = 0;
  readonly #waiters = new Set<Waiter>();
  readonly #countsByUser = new Map<string, UserCounts>();
  /** The most recent durations, in milliseconds, in no order. */
  readonly #durations: number[];
  #completedCount = 0;
  /** The time at which the last promised permit becomes free. */
  #nextFreeAt = 0;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
    this.#durations = new Array<number>(sampleCount).fill(options.defaultDurationMs);
  }

  /** The number of permits in use. */
  get running(): number {
    return this.#running;
  }

  /** The number of waiters. */
  get waiting(): number {
    return this.#waiters.size;
  }

  /** The number of users with running or waiting requests. */
  get users(): number {
    return this.#countsByUser.size;
  }

  /**
   * Runs work with a permit.
   * @param userID undefined if the work is for several users
   * @param request its signal aborts when the client disconnects
   * @throws as `acquire`, and what the work throws
   */
  async run<T>(userID: string | undefined, work: () => Promise<T>, request?: Pick<Request, 'signal'>): Promise<T> {
    const release = await this.acquire(userID, request);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /**
   * Waits for a permit.
   * @param userID undefined if the permit is for several users
   * @param request its signal aborts when the client disconnects; read only if no permit is free
   * @throws Problem `unavailable` if no permit becomes free in time, if none is expected to, or if too many requests
   * wait; `too-many-requests` if too many of them are the user's own.
   */
  acquire(userID: string | undefined, request?: Pick<Request, 'signal'>): Promise<Release> {
    const { maxWaiting, maxWaitMs } = this.#options;
    const counts = (userID !== undefined && this.#countsByUser.get(userID)) || { running: 0, waiting: 0 };
    if (this.#hasPermitFor(counts)) return Promise.resolve(this.#grant(userID, counts));
    if (counts.waiting >= maxWaiting / 10) return Promise.reject(this.#refusal('too-many-requests'));
    const isFull = this.#waiters.size >= maxWaiting || this.#expectedWaitMs > maxWaitMs;
    if (isFull) return Promise.reject(this.#refusal('unavailable'));
    const waiter = { userID, counts, permit: new Deferred<Release>() };
    this.#addWaiter(waiter, request?.signal);
    return waiter.permit.promise;
  }

  #addWaiter(waiter: Waiter, signal: AbortSignal | undefined): void {
    const { userID, counts, permit } = waiter;
    const onAbort = () => {
      if (!this.#removeWaiter(waiter)) return;
      permit.reject(new Problem('unavailable', 'The client went away while it was waiting'));
    };
    const onTimeout = () => {
      if (this.#removeWaiter(waiter)) permit.reject(this.#refusal('unavailable'));
    };
    const timer = setTimeout(onTimeout, this.#options.maxWaitMs);
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    permit.promise.then(stop, stop);
    this.#waiters.add(waiter);
    counts.waiting++;
    this.#updateCounts(userID, counts);
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
  }

  /** Returns false if the request no longer waits. */
  #removeWaiter(waiter: Waiter): boolean {
    if (!this.#waiters.delete(waiter)) return false;
    waiter.counts.waiting--;
    this.#updateCounts(waiter.userID, waiter.counts);
    return true;
  }

  #hasPermitFor({ running }: UserCounts): boolean {
    const { permits } = this.#options;
    return this.#running < permits && running < permitsPerUser(permits);
  }

  #updateCounts(userID: string | undefined, counts: UserCounts): void {
    if (userID === undefined) return;
    if (counts.running + counts.waiting > 0) this.#countsByUser.set(userID, counts);
    else this.#countsByUser.delete(userID);
  }

  /** The expected time between two releases while all permits are in use, in milliseconds. */
  get #releaseIntervalMs(): number {
    const medianMs = this.#durations.toSorted((a, b) => a - b)[sampleCount >> 1]!;
    return medianMs / this.#options.permits;
  }

  /** The expected wait of a new request, in milliseconds. */
  get #expectedWaitMs(): number {
    return (this.#waiters.size + 1) * this.#releaseIntervalMs;
  }

  #grant(userID: string | undefined, counts: UserCounts): Release {
    this.#running++;
    counts.running++;
    this.#updateCounts(userID, counts);
    const started = performance.now();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#running--;
      counts.running--;
      this.#updateCounts(userID, counts);
      this.#durations[this.#completedCount++ % sampleCount] = performance.now() - started;
      this.#admitNext();
    };
  }

  #admitNext(): void {
    let next: Waiter | undefined;
    for (const candidate of this.#waiters) {
      if (this.#hasPermitFor(candidate.counts) && !(next && next.counts.running <= candidate.counts.running)) {
        next = candidate;
      }
    }
    if (next && this.#removeWaiter(next)) next.permit.resolve(this.#grant(next.userID, next.counts));
  }

  #refusal(code: 'unavailable' | 'too-many-requests'): NoPermitError {
    const now = performance.now();
    const next = Math.max(now + this.#expectedWaitMs, this.#nextFreeAt + this.#releaseIntervalMs);
    this.#nextFreeAt = Math.min(next, now + maxRetryAfter * 1000);
    const seconds = ((this.#nextFreeAt - now) / 1000) * (1 + Math.random() / 2);
    const retryAfter = Math.min(Math.ceil(seconds), maxRetryAfter);
    return new NoPermitError(code, this.#options.refusal, { headers: { 'Retry-After': String(retryAfter) } });
  }
}
