/** Calculates what a workload needs: processor time, processes, memory, network. Pure. */
import { type Cpu, sumOf } from '../measure/costs.js';
import { type Asking, type Load, loadOf, type Rates } from './rates.js';
import { type Assumptions, type Deployment, durationsOf, type Figures, readingOf, type Workload } from './workload.js';

export interface Plan extends Deployment {
  /** Cores of all servers together, of the primary, and of each standby. */
  readonly serverCores: number;
  readonly primaryCores: number;
  readonly standbyCores: number;
  /** On each server. */
  readonly streams: number;
  readonly memoryMB: number;
  readonly asking: Asking;
  readonly rates: Rates;
  /** Between clients and servers, in megabits per second. */
  readonly megabits: number;
  /** True if the primary's share stays within the assumptions. */
  readonly fits: boolean;
  /** True if everything stays within the assumptions, and clients are poked only about changes that affect them. */
  readonly suffices: boolean;
}

/** The processor time per second of all servers, of the primary and of each standby, in microseconds. */
export function cpuOf(work: Workload, rates: Rates, deployment: Deployment, figures: Figures): Cpu {
  const { costs } = readingOf(deployment, figures);
  const { servers, standbys } = deployment;
  const reads = sumOf(
    [servers, costs.upkeep],
    [work.clients, costs.stream],
    [rates.opens, costs.open],
    [rates.looksInVain + rates.looks, costs.look],
    [rates.news, costs.news],
    [1, askingOf(rates, deployment, figures)],
    [rates.pokes, costs.poke],
    [rates.pulls, costs.delta],
    [rates.statements, costs.statement],
    [rates.primaryLooks - rates.primaryNews, costs.primaryLook],
    [rates.primaryNews, costs.primaryNews],
    [rates.unchanged, costs.unchanged],
    [rates.firstPulls, sumOf([1, costs.firstPull], [work.firstRows, costs.firstRow])],
  );
  const { push } = figures.primary;
  const { sending } = figures.standby;
  return {
    server: reads.server + rates.pushes * push.server,
    primary: reads.primary + rates.pushes * (push.primary + standbys * sending.primary),
    standby: standbys === 0 ? 0 : reads.standby / standbys + rates.pushes * figures.standby.push.standby,
  };
}

/** The part that queries for affected cohorts take, on all standbys together. */
export function askingOf({ seats, pairs }: Rates, deployment: Deployment, figures: Figures): Cpu {
  const { costs } = readingOf(deployment, figures);
  return sumOf([seats, costs.seat], [pairs, costs.pair]);
}

/** Predicts the load of a deployment under a workload. */
export function predict(work: Workload, deployment: Deployment, figures: Figures, assumed: Assumptions): Plan {
  const load = loadOf(work, deployment, durationsOf(deployment, figures, assumed), assumed);
  const cpu = cpuOf(work, load.rates, deployment, figures);
  const { memory } = figures;
  const room = assumed.utilization * assumed.databaseCores;
  const fits = cpu.primary / 1e6 <= room;
  return {
    ...deployment,
    serverCores: cpu.server / 1e6,
    primaryCores: cpu.primary / 1e6,
    standbyCores: cpu.standby / 1e6,
    streams: load.streams,
    memoryMB: memory.serverMB + (load.streams * (memory.streamKB + memory.groupKB)) / 1024,
    asking: load.asking,
    rates: load.rates,
    megabits: megabitsOf(work, load, figures),
    fits,
    suffices:
      fits &&
      cpu.standby / 1e6 <= room &&
      load.asking !== 'not' &&
      load.streams <= assumed.streamsPerServer &&
      cpu.server / 1e6 / deployment.servers <= assumed.utilization,
  };
}

function megabitsOf({ clients, firstRows }: Workload, { rates }: Load, { traffic }: Figures): number {
  const bytes =
    rates.pushes * traffic.push +
    rates.pokes * traffic.poke +
    rates.pulls * traffic.delta +
    rates.unchanged * traffic.unchanged +
    rates.firstPulls * firstRows * traffic.firstRow +
    clients * traffic.stream;
  return (8 * bytes) / 1e6;
}

const most = 10_000;

/**
 * Plans the fewest servers, and with these the fewest standbys, that stay within the assumptions. More servers also
 * mean fewer cohorts on each, so that it can query which of them a write affects.
 */
export function planFor(work: Workload, figures: Figures, assumed: Assumptions): Plan {
  const of = (deployment: Deployment) => predict(work, deployment, figures, assumed);
  const standbysFor = (servers: number): Plan => {
    const alone = of({ servers, standbys: 0 });
    if (alone.fits) return alone;
    const enough = (plan: Plan) => plan.standbyCores <= assumed.utilization * assumed.databaseCores;
    return fewest((standbys) => of({ servers, standbys }), enough);
  };
  const serversSuffice = (plan: Plan) =>
    plan.asking !== 'not' &&
    plan.streams <= assumed.streamsPerServer &&
    plan.serverCores / plan.servers <= assumed.utilization;
  return fewest(standbysFor, serversSuffice);
}

/** Returns the plan for the smallest number that suffices, as all greater ones do; else for the maximum. */
function fewest(planOf: (count: number) => Plan, isEnough: (plan: Plan) => boolean): Plan {
  let low = 1;
  let high = 1;
  while (high < most && !isEnough(planOf(high))) {
    low = high + 1;
    high = Math.min(most, 2 * high);
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(planOf(middle))) high = middle;
    else low = middle + 1;
  }
  return planOf(high);
}
