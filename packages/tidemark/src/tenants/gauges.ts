import type { UserContext } from '../context.js';
import type { ConnectionBudget } from '../db/connection-budget.js';
import type { Semaphores } from '../limits/semaphores.js';
import { EventLoopLag } from '../telemetry/event-loop-lag.js';
import { type GaugeInputs, gaugeValues } from '../telemetry/gauges.js';
import type { GaugeReader, GaugeValue } from '../telemetry/recorder.js';
import type { TenantRegistry } from './tenant-registry.js';

/** The sources of the gauges of a process with tenants. */
export interface TenantGaugeSources {
  readonly connectionBudget: ConnectionBudget;
  readonly admission: GaugeInputs['admission'];
  readonly registry: Pick<TenantRegistry<UserContext, unknown>, 'counts' | 'gaugeSources'>;
}

/**
 * Reads the gauges of all tenants as totals, because a series for each tenant would be too many. Omits gauges that need
 * a query of each database, such as the size of its change log.
 */
export class TenantGauges implements GaugeReader {
  readonly #sources: TenantGaugeSources;
  readonly #eventLoop = new EventLoopLag();

  constructor(sources: TenantGaugeSources) {
    this.#sources = sources;
  }

  read(): GaugeValue[] {
    const { connectionBudget, admission, registry } = this.#sources;
    const all = registry.gaugeSources();
    const lags = all.flatMap(({ replicaRouter }) => replicaRouter.notifierState().lagMs ?? []);
    const totalsOf = (semaphore: keyof Semaphores) => ({
      running: sum(all.map(({ semaphores }) => semaphores[semaphore].running)),
      waiting: sum(all.map(({ semaphores }) => semaphores[semaphore].waiting)),
    });
    return [
      ...Object.entries(registry.counts()).map(
        ([state, value]): GaugeValue => ({ name: 'tidemark.tenants', value, attributes: { state } }),
      ),
      ...gaugeValues({
        connections: { ...connectionBudget.usage(), waiting: connectionBudget.waiting },
        semaphores: { longReads: totalsOf('longReads'), reads: totalsOf('reads'), writes: totalsOf('writes') },
        admission,
        lagMs: lags.length > 0 ? Math.max(...lags) : null,
        differences: sum(all.map(({ replicaRouter }) => replicaRouter.consistencyState().differences)),
        heldSeconds: Math.max(0, ...all.map(({ upkeep }) => upkeep.state().heldSeconds)),
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
