import type { ConnectionStock } from '../db/connection-stock.js';
import type { Gates } from '../gates.js';
import { EventLoopLag } from '../telemetry/event-loop-lag.js';
import { type Gauged, gauges, type ReadingSources } from '../telemetry/readings.js';
import type { Reading } from '../telemetry/recorder.js';
import type { Occupancy } from './house.js';

/** What the gauges of a process with tenants are read from. */
export interface TenantSources {
  readonly stock: ConnectionStock;
  readonly held: Gauged['held'];
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
    const { stock, held, occupancy, open } = this.#sources;
    const all = open();
    const lags = all.flatMap(({ tail }) => tail().lagMs ?? []);
    const together = (gate: keyof Gates) => ({
      running: sum(all.map(({ gates }) => gates[gate].running)),
      waiting: sum(all.map(({ gates }) => gates[gate].waiting)),
    });
    return [
      ...Object.entries(occupancy()).map(
        ([state, value]): Reading => ({ name: 'tidemark.tenants', value, attributes: { state } }),
      ),
      ...gauges({
        connections: { ...stock.usage(), waiting: stock.waiting },
        gates: { longReads: together('longReads'), reads: together('reads'), writes: together('writes') },
        held,
        lagMs: lags.length > 0 ? Math.max(...lags) : null,
        differences: sum(all.map(({ audits }) => audits().differences)),
        heldSeconds: Math.max(0, ...all.map(({ upkeep }) => upkeep().heldSeconds)),
      }),
      { name: 'tidemark.event_loop.lag', value: this.#eventLoop.read() },
    ];
  }

  end(): void {
    this.#eventLoop.end();
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
