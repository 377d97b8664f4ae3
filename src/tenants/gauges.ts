import type { ConnectionBudget } from '../db/connection-budget.js';
import type { Semaphores } from '../semaphores.js';
import { EventLoopLag } from '../telemetry/event-loop-lag.js';
import { type GaugeInputs, type GaugeSources, gaugeValues } from '../telemetry/gauges.js';
import type { GaugeValue } from '../telemetry/recorder.js';
import type { TenantCounts } from './tenant-registry.js';

/** The sources of the gauges of a process with tenants. */
export interface TenantGaugeSources {
  readonly connectionBudget: ConnectionBudget;
  readonly budgets: GaugeInputs['budgets'];
  readonly tenantCounts: () => TenantCounts;
  /** Returns the sources of each open tenant. */
  readonly openTenants: () => readonly GaugeSources[];
}

/**
 * Reads the gauges of all tenants as totals, because a series for each tenant would be too many. Omits gauges that need
 * a query of each database, such as the size of its change log.
 */
export class TenantGauges {
  readonly #sources: TenantGaugeSources;
  readonly #eventLoop = new EventLoopLag();

  constructor(sources: TenantGaugeSources) {
    this.#sources = sources;
  }

  read(): GaugeValue[] {
    const { connectionBudget, budgets, tenantCounts, openTenants } = this.#sources;
    const all = openTenants();
    const lags = all.flatMap(({ notifier }) => notifier().lagMs ?? []);
    const totalsOf = (semaphore: keyof Semaphores) => ({
      running: sum(all.map(({ semaphores }) => semaphores[semaphore].running)),
      waiting: sum(all.map(({ semaphores }) => semaphores[semaphore].waiting)),
    });
    return [
      ...Object.entries(tenantCounts()).map(
        ([state, value]): GaugeValue => ({ name: 'tidemark.tenants', value, attributes: { state } }),
      ),
      ...gaugeValues({
        connections: { ...connectionBudget.usage(), waiting: connectionBudget.waiting },
        semaphores: { longReads: totalsOf('longReads'), reads: totalsOf('reads'), writes: totalsOf('writes') },
        budgets,
        lagMs: lags.length > 0 ? Math.max(...lags) : null,
        differences: sum(all.map(({ consistencyChecks }) => consistencyChecks().differences)),
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
