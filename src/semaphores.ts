/** Divides the connections of a server between kinds of work. */
import type { Database, Statement } from './db/database.js';
import { Semaphore } from './limits/semaphore.js';

/** With ten connections or more, work that hangs behind two of the semaphores leaves connections for the third. */
export interface Semaphores {
  /** First pulls, resets and large deltas. Each holds a connection until its client has read the whole response. */
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

/** Returns a database whose queries wait for a permit. They serve several users, so they count for none of them. */
export function throttleQueries(semaphore: Semaphore, db: Database): Database {
  return { ...db, query: <Row>(statement: Statement) => semaphore.run(undefined, () => db.query<Row>(statement)) };
}
