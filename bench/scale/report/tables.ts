/** Makes the tables of the page, each from the record alone. */
import { digits } from '../../report/cells.js';
import { short } from '../../scenario.js';
import { counted, type Held } from '../held.js';
import type { Costs, Cpu, Measured } from '../measure/costs.js';
import { type Plan, planFor } from '../model/plan.js';
import type { Asking } from '../model/rates.js';
import { type Assumptions, type Figures, usual, type Workload } from '../model/workload.js';

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const ruler = `|${head.map((_, i) => (i === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head), ruler, ...rows.map(line)].join('\n');
}

const operations: readonly (readonly [name: keyof Costs, what: string])[] = [
  ['push', 'A push of one mutation'],
  ['sending', 'Sending its WAL to a standby'],
  ['unchanged', 'A pull that finds no changes, without its poll'],
  ['look', 'A poll that finds no changes; pulls share it'],
  ['primaryLook', 'A poll of the primary before a read from a standby, finding no changes; pulls share it'],
  ['primaryNews', 'The same, finding changes'],
  ['delta', 'A pull of one changed row, without its statement'],
  ['statement', 'The statement of such a pull; pulls share it'],
  ['firstPull', 'A first pull, without its rows'],
  ['firstRow', 'Each row of a first pull'],
  ['open', 'Opening a stream'],
  ['stream', 'Keeping a stream open, per second'],
  ['news', 'A poll for pokes that finds a change'],
  ['seat', 'Finding the affected cohorts, per cohort'],
  ['pair', 'The same, per cohort and changed row'],
  ['poke', 'A poke'],
  ['upkeep', 'An idle server, per second'],
];

/** Microseconds, with a sensible number of digits. */
export const us = (value: number): string => (value === 0 ? '0' : value < 0.1 ? value.toFixed(3) : digits(value));

export function costsTable(primary: Measured, standby: Measured): string {
  const rows = operations.map(([name, what]) => {
    const [own, other] = [primary.costs[name], standby.costs[name]];
    return [what, us(own.server), us(own.primary), us(other.server), us(other.primary), us(other.standby)];
  });
  const head = ['µs of CPU time', 'server', 'primary', 'server, reading from a standby', 'primary', 'standby'];
  return tableOf(head, rows);
}

export function sizesTable({ memory, traffic }: Measured): string {
  return tableOf(
    ['', ''],
    [
      ['Memory of a server without clients', `${digits(memory.serverMB)} MB`],
      ['Memory of a stream', `${digits(memory.streamKB)} kB`],
      ['Memory of a remembered client group', `${digits(memory.groupKB)} kB`],
      ['Bytes of a push, with its response', digits(traffic.push)],
      ['Bytes of a pull that finds no changes', digits(traffic.unchanged)],
      ['Bytes of a pull of one changed row', digits(traffic.delta)],
      ['Bytes of a row of a first pull', digits(traffic.firstRow)],
      ['Bytes of a poke', digits(traffic.poke)],
      ['Bytes of a stream, per minute', digits(60 * traffic.stream)],
    ],
  );
}

/** The difference from the reference value, relative to it. */
const error = (value: number, against: number): string =>
  against === 0
    ? ''
    : ` (${value >= against ? '+' : '−'}${Math.abs((100 * (value - against)) / against).toFixed(0)} %)`;

/** The primary's processor time for each pull in microseconds, with everything else it does except pushes. */
function primaryEach({ standbys, measured: { cpu, rates } }: Held, { primary, standby }: Figures): number {
  const push = primary.push.primary + standbys * standby.sending.primary;
  return (cpu.primary - rates.pushes * push) / rates.pulls;
}

/** Shows what standbys save the primary: runs of equal size, with standbys and without. */
export function sparedTable(held: readonly Held[], figures: Figures): string {
  const pairs = held.flatMap((without) =>
    held
      .filter(
        ({ standbys, streams, servers, seats }) =>
          without.standbys === 0 &&
          standbys > 0 &&
          streams === without.streams &&
          servers === without.servers &&
          seats === without.seats,
      )
      .map((one) => [without, one] as const),
  );
  const rows = pairs.map(([without, one]) => {
    const [before, spared] = [primaryEach(without, figures), primaryEach(one, figures)];
    return [
      `${one.streams.toLocaleString('en-US')}, ${one.standbys}`,
      digits(one.measured.rates.pulls),
      us(before),
      us(spared),
      `${((100 * spared) / before).toFixed(1)} %`,
    ];
  });
  return tableOf(
    ['streams, standbys', 'pulls per second', 'primary per pull, without standbys', 'with standbys', ''],
    rows,
  );
}

export function heldTable({ measured, predicted, simulated }: Held): string {
  const cpu = (what: string, part: keyof Cpu) => {
    const [real, model, simulation] = [measured.cpu[part], predicted.cpu[part], simulated.cpu[part]];
    const percent = (value: number) => `${(value / 1e4).toFixed(1)} %`;
    return [
      `${what}, share of a core`,
      percent(real),
      percent(model) + error(model, real),
      percent(simulation) + error(simulation, real),
    ];
  };
  const words: Record<(typeof counted)[number], string> = {
    pushes: 'Pushes',
    pokes: 'Pokes',
    pulls: 'Pulls',
    news: 'Polls that find changes',
    statements: 'Statements for these pulls',
    primaryLooks: 'Polls of the primary for these pulls',
  };
  const rates = counted.map((kind) => {
    const [real, model, simulation] = [measured.rates[kind], predicted.rates[kind], simulated.rates[kind]];
    return [
      `${words[kind]} per second`,
      digits(real),
      digits(model) + error(model, real),
      digits(simulation) + error(simulation, real),
    ];
  });
  const rows = [cpu('All servers', 'server'), cpu('The primary', 'primary'), cpu('The standbys', 'standby'), ...rates];
  return tableOf(['', 'measured', 'model', 'simulation'], rows);
}

const sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000];
/** Writes per second of each client. */
export const perClient = 1 / 200;

const waysOfAsking: Record<Asking, string> = {
  'at once': 'immediate',
  later: 'some seconds late',
  not: 'to all clients',
};

const cores = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1));

const planHead = [
  'servers',
  'total cores',
  'standbys',
  'each standby at',
  'primary at',
  'pokes',
  'memory per server',
  'network',
];

function planCells(plan: Plan, { databaseCores }: Assumptions): string[] {
  if (!plan.suffices) return ['**too much**', ...Array<string>(planHead.length - 1).fill('')];
  const share = (used: number) => `${((100 * used) / databaseCores).toFixed(0)} %`;
  return [
    plan.servers.toLocaleString('en-US'),
    cores(plan.serverCores),
    plan.standbys.toLocaleString('en-US'),
    plan.standbys === 0 ? '' : share(plan.standbyCores),
    share(plan.primaryCores),
    waysOfAsking[plan.asking],
    `${(plan.memoryMB / 1024).toFixed(1)} GB`,
    `${digits(plan.megabits)} Mbit/s`,
  ];
}

export function plansTable(works: readonly Workload[], figures: Figures, assumed: Assumptions): string {
  const rows = works.map((work) => [
    `${short(work.clients)}, ${work.writes.toLocaleString('en-US')}`,
    ...planCells(planFor(work, figures, assumed), assumed),
  ]);
  return tableOf(['clients online, writes per second', ...planHead], rows);
}

/** How teams share parameters, and whether a proxy routes them to one server. */
export type Kind = Pick<Workload, 'seats' | 'isRouted'>;

export const growing = (kind: Kind): Workload[] =>
  sizes.map((clients) => ({ ...usual, ...kind, clients, writes: clients * perClient }));

/** The same clients in this many clusters, each with its share of the clients and of their writes. */
export function clustersTable(clients: number, kind: Kind, figures: Figures, assumed: Assumptions): string {
  const rows = [1, 2, 5, 10, 20, 50].map((clusters) => {
    const work = { ...usual, ...kind, clients: clients / clusters, writes: (clients * perClient) / clusters };
    const plan = planFor(work, figures, assumed);
    const all = [plan.serverCores, plan.primaryCores + plan.standbys * plan.standbyCores];
    return [
      `${clusters}`,
      ...planCells(plan, assumed).slice(0, 6),
      ...all.map((used) => (plan.suffices ? cores(clusters * used) : '')),
    ];
  });
  return tableOf(['clusters', ...planHead.slice(0, 6), 'cores of all servers', 'cores of all databases'], rows);
}
