import { setTimeout as sleep } from 'node:timers/promises';

/** A limit on the total time of several pieces of work. */
export interface Deadline {
  /** Settles as the work does, or rejects when the time is up. The work itself continues. */
  within<T>(work: Promise<T>): Promise<T>;
  /** Cancels the deadline. */
  end(): void;
}

/**
 * Starts a deadline.
 * @param ms may be infinite
 * @param createError creates the error to reject with when the time is up
 */
export function startDeadline(ms: number, createError: () => Error): Deadline {
  if (ms === Number.POSITIVE_INFINITY) return { within: (work) => work, end: () => {} };
  let timer: NodeJS.Timeout | undefined;
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(createError()), ms);
  });
  expiry.catch(() => {});
  return {
    within: (work) => Promise.race([work, expiry]),
    end: () => clearTimeout(timer),
  };
}

/** Resolves with true when the work succeeds, or with false after `ms`. Rejects if the work fails in time. */
export async function settlesWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([work.then(() => true), sleep(ms, false, { signal: timer.signal }).catch(() => false)]);
  } finally {
    timer.abort();
  }
}
