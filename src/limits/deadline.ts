import { setTimeout as sleep } from 'node:timers/promises';

/** A limit of the time that several pieces of work take together. */
export interface Deadline {
  /** Settles as the work does, or rejects when the time is over. The work itself goes on. */
  within<T>(work: Promise<T>): Promise<T>;
  /** Lets the time go by without effect. */
  end(): void;
}

/**
 * Starts the time.
 * @param ms may be infinite
 * @param late makes the error that says that the time is over
 */
export function startDeadline(ms: number, late: () => Error): Deadline {
  if (ms === Number.POSITIVE_INFINITY) return { within: (work) => work, end: () => {} };
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  isOver.catch(() => {});
  return {
    within: (work) => Promise.race([work, isOver]),
    end: () => clearTimeout(timer),
  };
}

/** Resolves with whether the work settled in time: true when it succeeds, false after `ms`. Rejects if it fails. */
export async function settlesWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([work.then(() => true), sleep(ms, false, { signal: timer.signal }).catch(() => false)]);
  } finally {
    timer.abort();
  }
}
