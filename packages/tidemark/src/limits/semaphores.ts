/** Divides the connections of a server between kinds of work. */
import { Semaphore } from './semaphore.js';

/** With ten connections or more, work that hangs behind two of the semaphores leaves connections for the third. */
export interface Semaphores {
  /** First pulls, resets and long deltas. Each holds a connection until all of its rows have been read. */
  readonly longReads: Semaphore;
  /** All other reads of pulls. */
  readonly reads: Semaphore;
  /** Pushes and calls. */
  readonly writes: Semaphore;
}

/** @param connections the maximum number of open connections */
export function semaphoresFor(connections: number): Semaphores {
  const semaphore = (part: number, defaultDurationMs: number, doing: string) =>
    new Semaphore({
      permits: Math.max(2, Math.ceil(part * connections)),
      maxWaiting: 1000,
      maxWaitMs: 10_000,
      defaultDurationMs,
      refusal: `Too many clients are ${doing}; try again later`,
    });
  return {
    longReads: semaphore(0.4, 100, 'pulling much data'),
    reads: semaphore(0.3, 5, 'pulling'),
    writes: semaphore(0.5, 10, 'writing'),
  };
}
