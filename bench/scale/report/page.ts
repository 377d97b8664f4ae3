/** Makes the documents of a run: a page, and the plots beside it. */
import { quick, thorough } from '../../../src/pokes/plan-pokes.js';
import { minIntervalMs } from '../../../src/replicas/throttled-poller.js';
import { drawPlot } from '../../report/plot.js';
import { short } from '../../scenario.js';
import type { Held } from '../held.js';
import { askingOf, type Plan, planFor } from '../model/plan.js';
import { type Assumptions, type Figures, usual, type Workload } from '../model/workload.js';
import { figuresOf, type ScaleRecord } from './scale-record.js';
import {
  clustersTable,
  costsTable,
  growing,
  heldTable,
  type Kind,
  perClient,
  plansTable,
  sizesTable,
  sparedTable,
  us,
} from './tables.js';

/** How teams share parameters, and whether a proxy routes them to one server. */
const kinds = {
  routed: { seats: 'team', isRouted: true },
  team: { seats: 'team', isRouted: false },
  user: { seats: 'user', isRouted: false },
} as const;

/** The documents of a run, by their names in `docs/`. They depend on the record alone. */
export function scaleDocumentsOf(record: ScaleRecord): Record<string, string> {
  const figures = figuresOf(record);
  const plot = (title: string, kind: Kind) => plotOf(title, growing(kind), figures, record.assumptions);
  return {
    'scale.md': pageOf(record, figures),
    'scale-routed.svg': plot('Cores by clients, if each team shares its views and uses one server', kinds.routed),
    'scale-user.svg': plot('Cores by clients, if each user has their own views', kinds.user),
  };
}

function plotOf(title: string, works: readonly Workload[], figures: Figures, assumed: Assumptions): string {
  const all = works.map((work) => ({ x: work.clients, plan: planFor(work, figures, assumed) }));
  const enough = all.filter(({ plan }) => plan.suffices);
  const plans = enough.length > 0 ? enough : all;
  const curve = (name: string, of: (plan: Plan) => number) => ({
    name,
    // The axis has no zero.
    points: plans.map(({ x, plan }) => ({ x, y: Math.max(0.01, of(plan)) })),
  });
  return drawPlot({
    title,
    xTitle: 'clients online, each writing every 200 s',
    yTitle: 'cores',
    unit: 'cores',
    curves: [
      curve('all servers', ({ serverCores }) => serverCores),
      curve('all standbys', ({ standbys, standbyCores }) => standbys * standbyCores),
      curve('primary', ({ primaryCores }) => primaryCores),
    ],
    xLabel: short,
  });
}

function pageOf(record: ScaleRecord, figures: Figures): string {
  const { machine, primary, standby, held, assumptions: assumed } = record;
  return `<!-- Made by \`npm run bench -- scale-report\` from scale.json. Changes by hand are lost. -->

# Scale

How many servers and standbys a deployment needs, and what limits it. We measured the CPU time of each operation. A
model turns these costs into plans, and a simulation and real runs check the model. \`npm run bench -- scale\` does all
of this. [Performance](performance.md) shows how long operations take.

| | |
|---|---|
| Date | ${record.at.slice(0, 10)}, ${Math.round(record.seconds / 60)} minutes${record.isQuick ? ', **a smoke run: too short for figures to rely on**' : ''} |
| Machine | ${machine.cpus} × ${machine.model}, ${Math.round(machine.memoryMB / 1024)} GB, ${machine.platform}; load before the run ${machine.load.toFixed(1)}${machine.load < machine.cpus / 4 ? '' : ': **other work made everything more expensive**'} |
| Versions | Tidemark ${record.tidemark}, Node ${record.node}, ${record.postgres} |
| Postgres's settings | ${Object.entries(record.settings)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ')}; otherwise the defaults, so every commit is durable |

## What operations cost

Costs are in microseconds of CPU time, as Linux counts it for the processes of the server, the primary and the standby.
The first two columns are for a server that reads from the primary, the last three for one that reads from a standby.
Costs are differences between phases of the measurement; a cost too small to detect is 0. A server that reads from a
standby polls the primary first, at most once in ${minIntervalMs} ms. That is too rare to measure what such a poll costs the server,
so this cost comes from the first column. A *cohort* is all subscribers whose view has the same parameters.

${costsTable(primary, standby)}

${sizesTable(primary)}

The bytes include headers, but not TLS or TCP, and are counted without compression.

## Plans

Each client writes every ${Math.round(1 / perClient)} s, and ${usual.audience} online clients see each write: 100,000 clients cause ${100_000 * perClient} writes and
${(100_000 * perClient * usual.audience).toLocaleString('en-US')} pokes per second. Servers are processes, each limited to ${percent(assumed)} % of a core and ${assumed.streamsPerServer.toLocaleString('en-US')} streams. A database has ${assumed.databaseCores}
cores of the machine above, and may use ${percent(assumed)} % of them. Each plan has the fewest servers and standbys that suffice. If no
number suffices, the table says "too much".

### Each team shares its views and uses one server

Many users share the parameters of the views, such as a tenant or a project: \`where team_id = \${team}\`. A proxy sends
all clients of a team to the same server, for example by a hash of the tenant's name. If that server fails, they use
another one, because the routing only improves speed.

${plansTable(growing(kinds.routed), figures, assumed)}

![Cores by clients](scale-routed.svg)

### Each team shares its views and uses any server

With many servers, each has only one or two clients of a team, so these clients share little.

${plansTable(growing(kinds.team), figures, assumed)}

### Each user has their own views

The parameter is the user: \`where team_id in (select team_id from member where user_id = \${userID})\`.

${plansTable(growing(kinds.user), figures, assumed)}

![Cores by clients](scale-user.svg)

## Limits

${endOf(figures, assumed)}

### Tenants in several clusters

If tenants share no data, give each cluster some of the tenants and its own servers. The servers of a cluster poll only
for its own writes, on behalf of its own clients. The table is for one million clients, with views that teams share; the
clients use any server of their cluster.

${clustersTable(1_000_000, kinds.team, figures, assumed)}

## How the model works

${modelText(assumed)}

## What standbys spare the primary

These are real runs with the same streams, servers and writes, with and without standbys. The values are the primary's
CPU time per pull, in microseconds. They include polls and pokes, but not the cost of pushes by the first table.

${sparedTable(held, figures)}

## How accurate the model is

These are real runs, with servers, databases and clients on the machine above. The model and the simulation get the
costs from the first table, the number of clients, and how often they wrote. The brackets show how far each is off.

${held.map(heldSection).join('\n\n')}
`;
}

function heldSection(held: Held): string {
  const reading =
    held.standbys === 0
      ? 'reading from the primary'
      : `reading from ${held.standbys === 1 ? 'a standby' : `${held.standbys} standbys`}`;
  const views = held.seats === 'team' ? 'views shared by teams' : 'separate views for each user';
  return `### ${held.streams.toLocaleString('en-US')} streams, ${views}, ${held.servers} ${held.servers === 1 ? 'server' : 'servers'} ${reading}

Duration: ${held.seconds.toFixed(0)} s. ${held.failures === 0 ? 'No stream ended, and no pull failed.' : `**${held.failures} streams ended or pulls failed.**`}

${heldTable(held)}`;
}

const percent = ({ utilization }: Assumptions): string => (100 * utilization).toFixed(0);

function endOf(figures: Figures, assumed: Assumptions): string {
  const { push } = figures.primary;
  const { sending, pair } = figures.standby;
  const room = 1e6 * assumed.utilization * assumed.databaseCores;
  const writesWith = (standbys: number) =>
    Math.round(room / (push.primary + standbys * sending.primary)).toLocaleString('en-US');
  const share = (kind: Kind) => {
    const part = askingShare(kind, figures, assumed);
    return part === undefined ? 'too much' : `${(100 * part).toFixed(0)} %`;
  };
  return `**The primary's writes.** You can add servers and standbys, but there is only one primary. A push of one mutation
costs it ${us(push.primary)} µs, so ${assumed.databaseCores} cores at ${percent(assumed)} % take ${writesWith(0)} of these pushes per second. With four standbys they take ${writesWith(4)},
and with twenty ${writesWith(20)}, because the primary sends its WAL to each of them (${us(sending.primary)} µs per push). Pushes of several
mutations cost [less per mutation](performance.md#push). Disks, and locks on rows that many clients write, may set a
lower limit; the model covers neither.

**Finding the clients that a write affects.** Every server checks every write for all of its cohorts. All servers
together check cohorts × writes, however many servers there are: ${us(pair.standby)} µs of a standby per cohort and row. With
100,000 clients, this takes ${share(kinds.user)} of the CPU time of all servers and databases if each user has their own views, ${share(kinds.team)} if
teams share their views and use any server, and ${share(kinds.routed)} if each team uses one server. The cost grows with
the square of the number of clients, because more clients also write more. If one poll has over ${quick.anyVersion.toLocaleString('en-US')} cohorts times
changes, a server checks them in the background, and pokes arrive some seconds late. Above ${thorough.anyVersion.toLocaleString('en-US')}, it pokes all
clients, for which the tables above say "too much".`;
}

/** The share of processor time that queries for affected cohorts take; undefined if no plan suffices. */
function askingShare(kind: Kind, figures: Figures, assumed: Assumptions): number | undefined {
  const work: Workload = { ...usual, ...kind, clients: 100_000, writes: 100_000 * perClient };
  const plan = planFor(work, figures, assumed);
  if (!plan.suffices) return undefined;
  const asking = askingOf(plan.rates, plan, figures);
  const ofDatabases = plan.primaryCores + plan.standbys * plan.standbyCores;
  return (asking.server + asking.primary + asking.standby) / 1e6 / (plan.serverCores + ofDatabases);
}

function modelText({ spreadMs, roundTripMs }: Assumptions): string {
  return `The formulas are in \`bench/scale/model/rates.ts\`. The simulation beside it runs the same events one by one, by the rules
of the server, and a test compares the formulas with it.

- **The load is the sum of all operations**, each at its cost. Time spent waiting costs nothing.
- **Polls for pokes.** After a poll that finds a change, a server pauses for twice as long as the poll took. The next
  poll finds what is written during the pause. Without changes, it polls every 5 to 7 ms at first, and after 10 s at
  intervals of 1/800 of the time since the last change, at most 200 ms.
- **Pokes and pulls.** Each client that sees a write is poked once per poll. It pulls within ${spreadMs} ms, once for all pokes
  in that time.
- **Shared statements.** Pulls that arrive while a statement runs share the next one, if they have seen the same
  transactions. So the more writes there are, the less pulls share. Pulls that read from a standby have waited for the
  same poll of the primary, and share more than the model assumes: it plans too many cores rather than too few.
- **Polls of the primary.** Before a pull reads from a standby, its server asks the primary which mutations it has
  applied. All pulls within ${minIntervalMs} ms share that poll.
- **Streams.** Each client opens a stream ${usual.opensPerHour} times an hour, because servers end streams after an hour and clients
  disconnect. Each time, it makes a pull that finds no changes. Each client makes ${usual.firstPullsPerDay} first pulls of ${usual.firstRows.toLocaleString('en-US')} rows a day.
- **Clients are evenly distributed**, and so are writes over teams and over time.
- **A round trip** between server and database takes ${roundTripMs} ms.

The model ignores queues on busy processors, bursts (after a restart, all clients of a server reconnect within three
seconds), connections and TLS, which a proxy terminates, disks, memory of the databases, larger rows, views that are
compared rather than [incremental](views.md), mutators that do more than write one row, and what the memory accesses of
a second core cost the first.`;
}
