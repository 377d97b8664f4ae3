import type { ConnectionStock } from '../db/connection-stock.js';
import type { Gates } from '../gates.js';
import type { Budget } from '../limits/budget.js';
import { EventLoopLag } from '../telemetry/event-loop-lag.js';
import type { ReadingSources } from '../telemetry/readings.js';
import type { Reading } from '../telemetry/recorder.js';
import type { Occupancy } from './house.js';

/** What the gauges of a process with tenants are read from. */
export interface TenantSources {
  readonly stock: ConnectionStock;
  readonly budgets: Readonly<Record<'bodies' | 'spool' | 'streams', Budget>>;
  readonly occupancy: () => Occupancy;
  /** Of each tenant that is open. */
  readonly open: () => readonly ReadingSources[];
}

/**
 * Reads the gauges of all tenants together: a series for each would be too many. What would have to be asked of each
 * database, such as the size of its change log, is not among them.
 */
export class TenantReadings {
  readonly #sources: TenantSources;
  readonly #eventLoop = new EventLoopLag();

  constructor(sources: TenantSources) {
    this.#sources = sources;
  }

  read(): Reading[] {
    const { stock, budgets, occupancy, open } = this.#sources;
    const sources = open();
    const sum = (read: (one: ReadingSources) => number) => sources.reduce((total, one) => total + read(one), 0);
    const most = (read: (one: ReadingSources) => number) => sources.reduce((most, one) => Math.max(most, read(one)), 0);
    const { total, idle } = stock.usage();
    const gates: readonly (keyof Gates)[] = ['longReads', 'reads', 'writes'];
    return [
      ...Object.entries(occupancy()).map(
        ([state, value]): Reading => ({ name: 'tidemark.tenants', value, attributes: { state } }),
      ),
      { name: 'tidemark.connections', value: idle, attributes: { state: 'idle' } },
      { name: 'tidemark.connections', value: total - idle, attributes: { state: 'used' } },
      { name: 'tidemark.connections.pending', value: stock.waiting },
      ...gates.flatMap((gate): Reading[] => [
        { name: 'tidemark.gate.running', value: sum(({ gates }) => gates[gate].running), attributes: { gate } },
        { name: 'tidemark.gate.waiting', value: sum(({ gates }) => gates[gate].waiting), attributes: { gate } },
      ]),
      { name: 'tidemark.body.held', value: budgets.bodies.used },
      { name: 'tidemark.spool.held', value: budgets.spool.used },
      { name: 'tidemark.poke.streams', value: budgets.streams.used },
      { name: 'tidemark.poke.lag', value: most(({ tail }) => tail().lagMs ?? 0) / 1000 },
      { name: 'tidemark.audit.differences', value: sum(({ audits }) => audits().differences) },
      { name: 'tidemark.change_log.held_back', value: most(({ upkeep }) => upkeep().heldSeconds) },
      { name: 'tidemark.event_loop.lag', value: this.#eventLoop.read() },
    ];
  }

  end(): void {
    this.#eventLoop.end();
  }
}
