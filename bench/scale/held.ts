/** Holds many streams open while clients write a little, and compares the cost with the model and the simulation. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../test/stress/oracle/random.js';
import { Pusher } from '../client/pusher.js';
import { withConnections } from '../scenario.js';
import type { Totals } from '../servers/listeners.js';
import type { Cpu } from './measure/costs.js';
import type { Open } from './measure/requests.js';
import { type Stage, withStage } from './measure/stage.js';
import { documentOf, members, userOf } from './measure/teams.js';
import { cpuOf, predict } from './model/plan.js';
import { simulate } from './model/simulation.js';
import { type Assumptions, durationsOf, type Figures, type Workload } from './model/workload.js';

export interface HeldOptions {
  readonly streams: number;
  /** The minimum number of servers. Each reads from one of the standbys. */
  readonly servers: number;
  readonly standbys: number;
  readonly seats: Workload['seats'];
  readonly seconds: number;
  /** The share of the machine's cores that the deployment should take by the model, with this many standbys. */
  readonly share: number;
  readonly shareWith: number;
  readonly cores: number;
}

/** The rates per second that a real run counts. */
export const counted = ['pushes', 'pokes', 'pulls', 'news', 'statements', 'primaryLooks'] as const;
export type Counted = Readonly<Record<(typeof counted)[number], number>>;

export interface Held {
  readonly streams: number;
  readonly servers: number;
  readonly standbys: number;
  readonly seats: Workload['seats'];
  readonly seconds: number;
  /** Streams that the server ended, and failed pulls. */
  readonly failures: number;
  /** Processor time per second, in microseconds: of all servers, of the primary, and of all standbys. */
  readonly measured: { readonly cpu: Cpu; readonly rates: Counted };
  readonly predicted: { readonly cpu: Cpu; readonly rates: Counted };
  readonly simulated: { readonly cpu: Cpu; readonly rates: Counted };
}

const warmUpSeconds = 5;

/** Each stream is an open file, and the limit of open files must leave some for everything else. */
function streamsPerProcess(most: number): number {
  const [, limit] = /^Max open files +\S+ +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))!;
  return limit === 'unlimited' ? most : Math.min(most, Number(limit) - 500);
}

export async function hold(
  { streams, servers: least, standbys, seats, seconds, share, shareWith, cores }: HeldOptions,
  figures: Figures,
  assumed: Assumptions,
  progress: (message: string) => void,
): Promise<Held> {
  const servers = Math.max(least, Math.ceil(streams / streamsPerProcess(assumed.streamsPerServer)));
  const teams = Math.ceil(streams / members);
  const clients = teams * members;
  const deployment = { servers, standbys };
  const workOf = (writes: number): Workload => ({
    clients,
    writes,
    audience: members,
    seats,
    isRouted: false,
    opensPerHour: 0,
    firstPullsPerDay: 0,
    firstRows: 0,
  });
  const coresFor = (writes: number) => {
    const sized = { servers, standbys: shareWith };
    const { serverCores, primaryCores, standbyCores } = predict(workOf(writes), sized, figures, assumed);
    return serverCores + primaryCores + shareWith * standbyCores;
  };
  const writes = [100, 50, 30, 20, 10, 5, 3, 2, 1].find((rate) => coresFor(rate) <= share * cores) ?? 0.5;
  const stageOptions = { teams, standbys, servers, loaders: servers, seats };
  const act = async (stage: Stage, open: Open): Promise<Held> => {
    progress(`opening ${clients} streams on ${servers} servers`);
    await openAll(stage, clients, assumed.spreadMs);
    // Opened last, because a server closes connections that stay idle for as long as the streams take to open.
    const pushers = await pushersOf(stage, open);
    const writing = { teams, perSecond: writes };
    await write(pushers, { ...writing, seconds: warmUpSeconds });
    await eachLoader(stage, () => ({ do: 'reset' }));
    progress(`${clients} streams, ${writes} writes a second`);
    const before = await stage.statements();
    let pushed = 0;
    const spent = await stage.spent(async () => {
      pushed = await write(pushers, { ...writing, seconds });
    });
    const after = await stage.statements();
    const totals = await eachLoader<Totals>(stage, () => ({ do: 'count' }));
    const total = (kind: keyof Totals) => totals.reduce((sum, counts) => sum + counts[kind], 0);
    const perSecond = (count: number) => count / spent.seconds;
    const work = workOf(perSecond(pushed));
    const took = durationsOf(deployment, figures, assumed);
    const simulated = simulate({ work, deployment, took, assumed, seconds: 60, random: new Random(1) });
    const { rates } = predict(work, deployment, figures, assumed);
    const ofAllStandbys = (cpu: Cpu): Cpu => ({ ...cpu, standby: standbys * cpu.standby });
    return {
      streams: clients,
      servers,
      standbys,
      seats,
      seconds: spent.seconds,
      failures: total('failures'),
      measured: {
        cpu: {
          server: 1000 * perSecond(spent.server + spent.writer),
          primary: 1000 * perSecond(spent.primary + spent.sender),
          standby: 1000 * perSecond(spent.standby),
        },
        rates: {
          pushes: work.writes,
          pokes: perSecond(total('pokes')),
          pulls: perSecond(total('pulls')),
          news: perSecond(after.questions - before.questions),
          statements: perSecond(after.deltas - before.deltas),
          primaryLooks: perSecond(after.primaryLooks - before.primaryLooks),
        },
      },
      predicted: { cpu: ofAllStandbys(cpuOf(work, rates, deployment, figures)), rates: only(rates) },
      simulated: { cpu: ofAllStandbys(cpuOf(work, simulated, deployment, figures)), rates: only(simulated) },
    };
  };
  return withStage(stageOptions, (stage) => withConnections((open) => act(stage, open)));
}

function only(rates: Counted): Counted {
  return Object.fromEntries(counted.map((kind) => [kind, rates[kind]])) as unknown as Counted;
}

/** The members of a team subscribe on different servers. */
async function openAll(stage: Stage, clients: number, spreadMs: number): Promise<void> {
  const count = stage.servers.length;
  const users = Array.from({ length: clients }, (_, i) => userOf(1 + Math.floor(i / members), i % members));
  await eachLoader(stage, (i) => ({
    do: 'open',
    url: stage.servers[i]!.url,
    users: users.filter((_, n) => n % count === i),
    from: i * clients,
    pulls: true,
    connections: 64,
    localAddress: stage.loaders[i]!.localAddress,
    spreadMs,
  }));
}

function eachLoader<Answer>(
  { loaders }: Stage,
  order: (i: number) => Parameters<Stage['loaders'][number]['order']>[0],
): Promise<Answer[]> {
  return Promise.all(loaders.map((loader, i) => loader.order<Answer>(order(i))));
}

/** The number of clients that push. Each has pushed before, so none is new. */
const writers = 16;

interface Writing {
  readonly teams: number;
  readonly perSecond: number;
  readonly seconds: number;
}

/** Writes at random times to documents of random teams. @returns the number of writes */
async function write(pushers: readonly Pusher[], { teams, perSecond, seconds }: Writing): Promise<number> {
  const random = new Random(2);
  const until = performance.now() + 1000 * seconds;
  const pushing = pushers.map(() => Promise.resolve());
  let pushed = 0;
  for (let at = performance.now(); ; pushed++) {
    at += (-1000 * Math.log(1 - random.next())) / perSecond;
    await sleep(Math.max(0, Math.min(at, until) - performance.now()));
    if (at > until) break;
    const row = documentOf(random.between(1, teams));
    const i = pushed % pushers.length;
    pushing[i] = pushing[i]!.then(() => pushers[i]!.push(1, row));
  }
  await Promise.all(pushing);
  return pushed;
}

function pushersOf(stage: Stage, open: Open): Promise<Pusher[]> {
  return Promise.all(
    Array.from({ length: writers }, async (_, i) => {
      const options = { user: userOf(1, i), id: `held${i}`, mutator: 'doc.rename', row: documentOf(1) };
      const pusher = new Pusher(await open(stage.writer.url), options);
      await pusher.push();
      return pusher;
    }),
  );
}
