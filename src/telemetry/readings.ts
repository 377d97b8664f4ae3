import type { Database } from '../db/database.js';
import type { Gates } from '../gates.js';
import type { Budget } from '../limits/budget.js';
import type { TailState } from '../pokes/tail.js';
import type { AuditState } from '../pulls/auditor.js';
import { type LogState, readLogState } from '../store/log-state.js';
import type { UpkeepState } from '../store/upkeep.js';
import { EventLoopLag } from './event-loop-lag.js';
import type { Reading } from './recorder.js';

/** What the gauges are read from. */
export interface ReadingSources {
  readonly db: Database;
  readonly gates: Gates;
  readonly bodies: Budget;
  readonly spool: Budget;
  readonly streams: Budget;
  readonly tail: () => TailState;
  readonly audits: () => AuditState;
  readonly upkeep: () => UpkeepState;
  readonly standbys: () => readonly StandbyState[];
}

/** A standby from which pulls may read. */
export interface StandbyState {
  readonly name: string;
  readonly isUsed: boolean;
  /** Undefined if it is not known. */
  readonly lagMs: number | undefined;
}

/** For how long the state of the change log is not read again, in milliseconds. */
const freshMs = 15_000;

/** Reads the gauges of a server. */
export class Readings {
  readonly #sources: ReadingSources;
  readonly #eventLoop = new EventLoopLag();
  #log: LogState | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(sources: ReadingSources) {
    this.#sources = sources;
  }

  /** What cannot be read now, since the database is away, is left out. */
  async read(): Promise<Reading[]> {
    const { db, gates, bodies, spool, streams, tail, audits, upkeep, standbys } = this.#sources;
    const held = { bodies, spool, streams };
    const { lagMs } = tail();
    const { differences } = audits();
    const { heldSeconds } = upkeep();
    return [
      ...gauges({ connections: db.usage(), gates, held, lagMs, differences, heldSeconds }),
      ...standbys().flatMap(({ name, isUsed, lagMs }): Reading[] => {
        const attributes = { standby: name };
        return [
          { name: 'tidemark.standby.used', value: isUsed ? 1 : 0, attributes },
          ...(lagMs === undefined ? [] : [{ name: 'tidemark.standby.lag', value: lagMs / 1000, attributes } as const]),
        ];
      }),
      { name: 'tidemark.event_loop.lag', value: this.#eventLoop.read() },
      ...(await this.#ofLog()),
    ];
  }

  end(): void {
    this.#eventLoop.end();
  }

  async #ofLog(): Promise<Reading[]> {
    if (performance.now() - this.#readAt > freshMs) {
      this.#readAt = performance.now();
      this.#log = await readLogState(this.#sources.db).catch(() => undefined);
    }
    if (!this.#log) return [];
    const { bytes, rows, reachSeconds } = this.#log;
    return [
      { name: 'tidemark.change_log.size', value: bytes },
      { name: 'tidemark.change_log.rows', value: rows },
      { name: 'tidemark.change_log.reach', value: reachSeconds },
    ];
  }
}

/** What is known without asking a database, of one sync or of several together. */
export interface Gauged {
  readonly connections: ReturnType<Database['usage']>;
  readonly gates: Readonly<Record<keyof Gates, Pick<Gates[keyof Gates], 'running' | 'waiting'>>>;
  readonly held: Readonly<Record<'bodies' | 'spool' | 'streams', Pick<Budget, 'used'>>>;
  /** Null if nobody listens. */
  readonly lagMs: number | null;
  readonly differences: number;
  readonly heldSeconds: number;
}

/** The gauges that say so. */
export function gauges({ connections, gates, held, lagMs, differences, heldSeconds }: Gauged): Reading[] {
  const { total, idle, waiting } = connections;
  return [
    { name: 'tidemark.connections', value: idle, attributes: { state: 'idle' } },
    { name: 'tidemark.connections', value: total - idle, attributes: { state: 'used' } },
    { name: 'tidemark.connections.pending', value: waiting },
    ...Object.entries(gates).flatMap(([gate, { running, waiting }]): Reading[] => [
      { name: 'tidemark.gate.running', value: running, attributes: { gate } },
      { name: 'tidemark.gate.waiting', value: waiting, attributes: { gate } },
    ]),
    { name: 'tidemark.body.held', value: held.bodies.used },
    { name: 'tidemark.spool.held', value: held.spool.used },
    { name: 'tidemark.poke.streams', value: held.streams.used },
    ...(lagMs === null ? [] : [{ name: 'tidemark.poke.lag', value: lagMs / 1000 } as const]),
    { name: 'tidemark.audit.differences', value: differences },
    { name: 'tidemark.change_log.held_back', value: heldSeconds },
  ];
}
