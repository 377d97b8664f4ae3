/** The documents that are made of a run: a page and the plots beside it. */
import { quick, thorough } from '../../../src/pokes/plan-pokes.js';
import { paceMs } from '../../../src/sources/paced-looks.js';
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

/** How teams see their data, and where they go: with what they share, in one place, and so on. */
const kinds = {
  routed: { seats: 'team', isRouted: true },
  team: { seats: 'team', isRouted: false },
  user: { seats: 'user', isRouted: false },
} as const;

/** By their names in `docs/`, the documents that say what was measured. They depend on the record alone. */
export function scaleDocumentsOf(record: ScaleRecord): Record<string, string> {
  const figures = figuresOf(record);
  const plot = (title: string, kind: Kind) => plotOf(title, growing(kind), figures, record.assumptions);
  return {
    'scale.md': pageOf(record, figures),
    'scale-routed.svg': plot('Cores by clients, where teams share views and have a server', kinds.routed),
    'scale-user.svg': plot('Cores by clients, where each user has views of their own', kinds.user),
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
    xTitle: 'clients online, each of which writes every 200 s',
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

How many servers and standbys a deployment needs, and where it ends. The processor time of each operation was measured;
a model makes plans of it; a simulation and real runs check the model. All of it comes from \`npm run bench -- scale\`.
[Performance](performance.md) says how long things take.

| | |
|---|---|
| Date | ${record.at.slice(0, 10)}, ${Math.round(record.seconds / 60)} minutes${record.isQuick ? ', **a smoke run: too short for figures to rely on**' : ''} |
| Machine | ${machine.cpus} × ${machine.model}, ${Math.round(machine.memoryMB / 1024)} GB, ${machine.platform}; load before the run ${machine.load.toFixed(1)}${machine.load < machine.cpus / 4 ? '' : ': **other work made everything dearer**'} |
| Versions | Tidemark ${record.tidemark}, Node ${record.node}, ${record.postgres} |
| Postgres's settings | ${Object.entries(record.settings)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ')}; otherwise the defaults, so every commit is durable |

## What operations cost

In microseconds of processor time, as Linux counts it for the processes of the server, of the primary and of the standby.
The first two columns are of a server that reads the primary, the last three of one that reads a standby. Costs are
differences between phases of the measurement: one that is too small to be seen is 0. A server that reads a standby looks
at the primary first, once in ${paceMs} ms at most: too seldom to measure what a look costs it, so that comes from the first
column. A *seat* is all listeners whose view has the same parameters.

${costsTable(primary, standby)}

${sizesTable(primary)}

Of the bytes, headers are included; TLS, TCP and compression are not.

## Plans

Each client writes every ${Math.round(1 / perClient)} s, and each write is seen by ${usual.audience} clients that are online: 100,000 clients make ${100_000 * perClient} writes and
${(100_000 * perClient * usual.audience).toLocaleString('en-US')} pokes a second. Servers are processes, each with at most ${percent(assumed)} % of a core and ${assumed.streamsPerServer.toLocaleString('en-US')} streams. A database has ${assumed.databaseCores}
cores of the machine above, of which it should take ${percent(assumed)} %. There are as few servers and standbys as will do; where none will, the table says "too much".

### Where a team shares its views, and has a server

The parameters of the views are what many users have in common, such as a tenant or a project: \`where team_id = \${team}\`. And
a proxy sends all of a team to the same server, by a hash of the tenant's name, say. If the server goes, they go to
another: this is for speed alone.

${plansTable(growing(kinds.routed), figures, assumed)}

![Cores by clients](scale-routed.svg)

### Where a team shares its views, and goes anywhere

With many servers, a team has a member or two on each, so that nobody is left to share with.

${plansTable(growing(kinds.team), figures, assumed)}

### Where each user has views of their own

The parameter is the user: \`where team_id in (select team_id from member where user_id = \${userID})\`.

${plansTable(growing(kinds.user), figures, assumed)}

![Cores by clients](scale-user.svg)

## Where it ends

${endOf(figures, assumed)}

### Tenants over several clusters

Where tenants do not share data, give each cluster some of them, with servers of its own. A cluster's servers look only at
its own writes, for its own clients. One million clients, with views that teams share, which go to any server of their
cluster:

${clustersTable(1_000_000, kinds.team, figures, assumed)}

## How the model works

${modelText(assumed)}

## What standbys spare the primary

Real runs, with the same streams, servers and writes, with standbys and without. The primary's processor time, less what
the pushes cost it by the first table, is divided by the pulls: looks and pokes are included. In microseconds.

${sparedTable(held, figures)}

## How right it is

Real runs on the machine above, servers, databases and clients together. The model and the simulation know the costs of
the first table, the number of clients, and how often they wrote; in brackets is how far each is off.

${held.map(heldSection).join('\n\n')}
`;
}

function heldSection(held: Held): string {
  const reading =
    held.standbys === 0
      ? 'reading the primary'
      : `reading ${held.standbys === 1 ? 'a standby' : `${held.standbys} standbys`}`;
  const views = held.seats === 'team' ? 'views that teams share' : 'views of each user';
  return `### ${held.streams.toLocaleString('en-US')} streams, ${views}, ${held.servers} ${held.servers === 1 ? 'server' : 'servers'} ${reading}

Held for ${held.seconds.toFixed(0)} s. ${held.failures === 0 ? 'No stream ended, and no pull failed.' : `**${held.failures} streams ended or pulls failed.**`}

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
  return `**The primary's writes.** Servers and standbys can be added; the primary is one. At ${us(push.primary)} µs for a push of one
mutation, ${assumed.databaseCores} cores at ${percent(assumed)} % take ${writesWith(0)} of them a second, ${writesWith(4)} with four standbys and ${writesWith(20)} with
twenty, to each of which it sends its log (${us(sending.primary)} µs a push). Pushes that carry several mutations cost [less for
each](performance.md#push). Disks, and locks on rows that many write, may end it sooner; the model knows neither.

**Asking whom a write concerns.** Every server asks about every write, for all of its seats. That is seats × writes, of all
servers together, however many there are: ${us(pair.standby)} µs of a standby for each seat and row. With 100,000 clients, it takes
${share(kinds.user)} of what all servers and databases spend where each user has views of their own, ${share(kinds.team)} where teams share
theirs but go anywhere, and ${share(kinds.routed)} where each team has a server. It grows with the square of a deployment, as more clients
also write more. With more than ${quick.ever.toLocaleString('en-US')} seats times changes in one look, a server asks beside its looks, and pokes come some
seconds late; with more than ${thorough.ever.toLocaleString('en-US')}, it pokes everybody, for which the tables above say "too much".`;
}

/** How much of what servers and databases spend goes into asking whom writes concern; undefined if no plan will do. */
function askingShare(kind: Kind, figures: Figures, assumed: Assumptions): number | undefined {
  const work: Workload = { ...usual, ...kind, clients: 100_000, writes: 100_000 * perClient };
  const plan = planFor(work, figures, assumed);
  if (!plan.suffices) return undefined;
  const asking = askingOf(plan.rates, plan, figures);
  const ofDatabases = plan.primaryCores + plan.standbys * plan.standbyCores;
  return (asking.server + asking.primary + asking.standby) / 1e6 / (plan.serverCores + ofDatabases);
}

function modelText({ spreadMs, roundTripMs }: Assumptions): string {
  return `The formulas are in \`bench/scale/model/rates.ts\`; the simulation beside it lets the same things happen one by one, by
the rules of the server, and a test holds the formulas against it.

- **Load is the sum of what happens**, each thing at its cost. Time spent on waiting is not.
- **Looks for pokes.** After one that finds something, a server rests for twice as long as it took. What is written in
  the meantime is found by the next one. Without changes it looks each 5 to 7 ms at first, and after 10 s at intervals of
  an 800th of the time since the last change, at most 200 ms.
- **Pokes and pulls.** Each client that sees a write is poked once for each look, and pulls within ${spreadMs} ms, once for all pokes
  in that time.
- **Shared statements.** Pulls that come while a statement runs share the next one, if they have seen the same. So the
  more writes there are, the less is shared. Pulls that read a standby have waited for the same look at the primary, and
  share more than the model knows: it asks for too many cores rather than too few.
- **Looks at the primary.** Before a pull reads a standby, its server asks the primary which mutations it has applied.
  All pulls of ${paceMs} ms share that.
- **Streams** are opened ${usual.opensPerHour} times an hour by each client, with a pull in vain each time: servers end them after an hour,
  and clients go away. Each client makes ${usual.firstPullsPerDay} first pulls of ${usual.firstRows.toLocaleString('en-US')} rows a day.
- **Clients are spread evenly**, and so are writes over teams and over time.
- **A round trip** between server and database takes ${roundTripMs} ms.

What it does not know: queues where processors are short, bursts (after a restart all clients of a server come back within
three seconds), connections and TLS, which a proxy in front ends, disks, memory of the databases, larger rows, views that
are compared rather than [incremental](views.md), mutators that do more than write one row, and what a second core's
memory costs a first.`;
}
