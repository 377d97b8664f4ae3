import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import type { Admission } from '../limits/admission.js';
import type { Semaphores } from '../limits/semaphores.js';
import type { ReplicaRouter } from '../replicas/replica-router.js';
import { type LogState, readLogState } from '../store/log-state.js';
import type { Upkeep } from '../store/upkeep.js';
import { EventLoopLag } from './event-loop-lag.js';
import type { GaugeReader, GaugeValue } from './recorder.js';

/** The sources of the gauges. */
export interface GaugeSources {
  readonly db: Database;
  readonly semaphores: Semaphores;
  readonly admission: Pick<Admission, 'bodies' | 'spool' | 'streams'>;
  readonly replicaRouter: Pick<ReplicaRouter<UserContext>, 'notifierState' | 'consistencyState' | 'standbys'>;
  readonly upkeep: Pick<Upkeep, 'state'>;
}

/** How long to reuse the state of the change log, in milliseconds. */
const freshMs = 15_000;

/** Reads the gauges of a server. */
export class Gauges implements GaugeReader {
  readonly #sources: GaugeSources;
  readonly #eventLoop = new EventLoopLag();
  #log: LogState | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(sources: GaugeSources) {
    this.#sources = sources;
  }

  /** Reads the gauges. Omits those of the change log while the database is unavailable. */
  async read(): Promise<GaugeValue[]> {
    const { db, semaphores, admission, replicaRouter, upkeep } = this.#sources;
    const { lagMs } = replicaRouter.notifierState();
    const { differences } = replicaRouter.consistencyState();
    const { heldSeconds } = upkeep.state();
    return [
      ...gaugeValues({ connections: db.usage(), semaphores, admission, lagMs, differences, heldSeconds }),
      ...replicaRouter.standbys().flatMap(({ name, isUsed, lagMs }): GaugeValue[] => {
        const attributes = { standby: name };
        return [
          { name: 'tidemark.standby.used', value: isUsed ? 1 : 0, attributes },
          ...(lagMs === undefined ? [] : [{ name: 'tidemark.standby.lag', value: lagMs / 1000, attributes } as const]),
        ];
      }),
      { name: 'tidemark.event_loop.lag', value: this.#eventLoop.read() },
      ...(await this.#changeLogValues()),
    ];
  }

  end(): void {
    this.#eventLoop.end();
  }

  async #changeLogValues(): Promise<GaugeValue[]> {
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

/** Values that are available without a query, of one sync or of several together. */
export interface GaugeInputs {
  readonly connections: ReturnType<Database['usage']>;
  readonly semaphores: Readonly<Record<keyof Semaphores, Pick<Semaphores[keyof Semaphores], 'running' | 'waiting'>>>;
  readonly admission: GaugeSources['admission'];
  /** Null if there are no subscribers. */
  readonly lagMs: number | null;
  readonly differences: number;
  readonly heldSeconds: number;
}

/** Returns the gauges with these values. */
export function gaugeValues({
  connections,
  semaphores,
  admission,
  lagMs,
  differences,
  heldSeconds,
}: GaugeInputs): GaugeValue[] {
  const { total, idle, waiting } = connections;
  return [
    { name: 'tidemark.connections', value: idle, attributes: { state: 'idle' } },
    { name: 'tidemark.connections', value: total - idle, attributes: { state: 'used' } },
    { name: 'tidemark.connections.pending', value: waiting },
    ...Object.entries(semaphores).flatMap(([semaphore, { running, waiting }]): GaugeValue[] => [
      { name: 'tidemark.semaphore.running', value: running, attributes: { semaphore } },
      { name: 'tidemark.semaphore.waiting', value: waiting, attributes: { semaphore } },
    ]),
    { name: 'tidemark.body.memory', value: admission.bodies.used },
    { name: 'tidemark.spool.size', value: admission.spool.used },
    { name: 'tidemark.poke.streams', value: admission.streams.used },
    ...(lagMs === null ? [] : [{ name: 'tidemark.poke.lag', value: lagMs / 1000 } as const]),
    { name: 'tidemark.consistency.differences', value: differences },
    { name: 'tidemark.change_log.held_back', value: heldSeconds },
  ];
}
