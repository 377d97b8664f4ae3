/** Keeps long reads from taking all connections. */
import type { Database } from '../db/database.js';
import { Problem } from '../errors.js';

/** Gives a place back. Further calls have no effect. */
export type Leave = () => void;

export interface LongReadsOptions {
  /** How many reads may run at once. */
  readonly places: number;
  /** How many may wait for a place. */
  readonly mostWaiting: number;
  /** How long each may wait, in milliseconds. Whoever would have to wait for longer is refused at once. */
  readonly longestWaitMs: number;
}

/** Half of a database's connections for long reads, so that there are some for everything else. */
export function longReadsOf({ connections }: Database): LongReads {
  const places = Math.ceil(connections / 2);
  return new LongReads({ places, mostWaiting: 1000, longestWaitMs: 10_000 });
}

/** What a long read is taken to last until one has ended, in milliseconds. */
const firstGuessMs = 100;
/** How much of that each read changes that ends. */
const weight = 1 / 8;
/** In seconds. */
const longestRetryAfter = 60;

/**
 * A long read holds a connection, and a snapshot of the database, until its client has taken everything. Only some may
 * do so at once; a limited number of others wait, for a limited time, in the order in which they came. All others are
 * told when to come back: each later than the one before, so that they do not all return at once.
 */
export class LongReads {
  readonly #options: LongReadsOptions;
  #running = 0;
  /** How to let each one in, in order. */
  readonly #waiting = new Set<() => void>();
  #usualMs = firstGuessMs;
  /** When the place becomes free that was promised last. */
  #promised = 0;

  constructor(options: LongReadsOptions) {
    this.#options = options;
  }

  /** How many are waiting. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Reads in a place, which is given back once what is left to read is closed.
   * @param signal aborts when the client has gone away
   * @throws as `enter`, and what the read throws.
   */
  async run<T extends { readonly more?: { close(): Promise<unknown> } | undefined }>(
    read: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const leave = await this.enter(signal);
    try {
      const result = await read();
      const { more } = result;
      if (more) return { ...result, more: { ...more, close: () => more.close().finally(leave) } };
      leave();
      return result;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /**
   * Waits for a place.
   * @param signal aborts when the client has gone away
   * @throws Problem `unavailable` if there is none in time, if none is to be expected in time, or if too many are waiting.
   */
  enter(signal?: AbortSignal): Promise<Leave> {
    const { places, mostWaiting, longestWaitMs } = this.#options;
    if (this.#running < places) return Promise.resolve(this.#take());
    const isFull = this.#waiting.size >= mostWaiting || this.#waitMs > longestWaitMs;
    if (isFull) return Promise.reject(this.#refusal());
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(patience);
        signal?.removeEventListener('abort', onAbort);
        this.#waiting.delete(letIn);
      };
      const letIn = () => {
        stop();
        resolve(this.#take());
      };
      const onAbort = () => {
        stop();
        reject(new Problem('unavailable', 'The client went away while its pull was waiting'));
      };
      const patience = setTimeout(() => {
        stop();
        reject(this.#refusal());
      }, longestWaitMs);
      this.#waiting.add(letIn);
      signal?.addEventListener('abort', onAbort);
      if (signal?.aborted) onAbort();
    });
  }

  /** How long a place takes to become free if all are taken, in milliseconds. */
  get #turnMs(): number {
    return this.#usualMs / this.#options.places;
  }

  /** How long whoever comes now would wait. */
  get #waitMs(): number {
    return (this.#waiting.size + 1) * this.#turnMs;
  }

  #take(): Leave {
    this.#running++;
    const started = performance.now();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#running--;
      this.#usualMs += weight * (performance.now() - started - this.#usualMs);
      const [next] = this.#waiting;
      next?.();
    };
  }

  #refusal(): Problem {
    const now = performance.now();
    const next = Math.max(now + this.#waitMs, this.#promised + this.#turnMs);
    this.#promised = Math.min(next, now + longestRetryAfter * 1000);
    const seconds = ((this.#promised - now) / 1000) * (1 + Math.random() / 2);
    const retryAfter = Math.min(Math.ceil(seconds), longestRetryAfter);
    return new Problem('unavailable', 'Too many clients are pulling much data; try again later', {
      headers: { 'Retry-After': String(retryAfter) },
    });
  }
}
