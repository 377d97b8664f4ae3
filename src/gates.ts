/** How the connections of a server are shared out. */
import type { Database, Statement } from './db/database.js';
import { Gate } from './limits/gate.js';

/** The gates to the database. With ten connections or more, whatever hangs in two of them leaves some. */
export interface Gates {
  /** First pulls, resets and large deltas: each holds a connection until its client has taken everything. */
  readonly longReads: Gate;
  /** What pulls read besides. */
  readonly reads: Gate;
  /** Pushes and calls. */
  readonly writes: Gate;
}

/** @param connections the most that are open at once */
export function gatesFor(connections: number): Gates {
  const gate = (part: number, usualMs: number, doing: string) =>
    new Gate({
      places: Math.max(2, Math.ceil(part * connections)),
      mostWaiting: 1000,
      longestWaitMs: 10_000,
      usualMs,
      refusal: `Too many clients are ${doing}; try again later`,
    });
  return {
    longReads: gate(0.4, 100, 'pulling much data'),
    reads: gate(0.3, 5, 'pulling'),
    writes: gate(0.5, 10, 'writing'),
  };
}

/** The same database, whose queries wait at a gate. They serve several users, and count as nobody's. */
export function behind(gate: Gate, db: Database): Database {
  return { ...db, query: <Row>(statement: Statement) => gate.run(undefined, () => db.query<Row>(statement)) };
}
