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
    const { db, gates, bodies, spool, streams, tail, audits, upkeep } = this.#sources;
    const { total, idle, waiting } = db.usage();
    const { lagMs } = tail();
    const connection = (state: string, value: number): Reading => ({
      name: 'tidemark.connections',
      value,
      attributes: { state },
    });
    return [
      connection('idle', idle),
      connection('used', total - idle),
      { name: 'tidemark.connections.pending', value: waiting },
      ...Object.entries(gates).flatMap(([gate, { running, waiting }]: [string, Gates[keyof Gates]]): Reading[] => [
        { name: 'tidemark.gate.running', value: running, attributes: { gate } },
        { name: 'tidemark.gate.waiting', value: waiting, attributes: { gate } },
      ]),
      { name: 'tidemark.body.held', value: bodies.used },
      { name: 'tidemark.spool.held', value: spool.used },
      { name: 'tidemark.poke.streams', value: streams.used },
      ...(lagMs === null ? [] : [{ name: 'tidemark.poke.lag', value: lagMs / 1000 } as const]),
      { name: 'tidemark.audit.differences', value: audits().differences },
      { name: 'tidemark.change_log.held_back', value: upkeep().heldSeconds },
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
