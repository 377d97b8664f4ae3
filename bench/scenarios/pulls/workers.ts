/**
 * Measures what a second worker adds. Clients, workers and Postgres share the machine, so on two cores the rate alone
 * is not conclusive; the rate for each core of workers is.
 */
import { ClientGroup } from '../../client/client-group.js';
import { addUsers } from '../../database.js';
import { type Bench, type Result, withConnections } from '../../scenario.js';
import { startWorkers, type WorkersProcess } from '../../servers/workers.js';
import { inTurns, median, ratePerSecond } from '../../statistics.js';

const clients = 16;
const counts = [1, 2];

interface Sample {
  readonly rate: number;
  /** Pulls per second of a worker's processor time. */
  readonly perCore: number;
  /** The busiest worker's share of all workers' processor time, in percent. */
  readonly busiest: number;
  /** The primary process's share of all processor time, in percent. */
  readonly primary: number;
}

export async function workers(bench: Bench): Promise<Result[]> {
  const { pool, sizes, databaseURL, isQuick } = bench;
  const users = await addUsers(pool, `l${sizes[0]}.2`, clients);
  const servers: WorkersProcess[] = [];
  try {
    for (const count of counts) servers.push(await startWorkers(databaseURL, count));
    return await withConnections(async (open) => {
      const contenders: Record<string, () => Promise<Sample>> = {};
      for (const [i, server] of servers.entries()) {
        const groups: ClientGroup[] = [];
        for (const user of users) groups.push(new ClientGroup(await open(server.url), user, `workers ${i} ${user}`));
        for (const group of groups) await group.pull();
        contenders[counts[i]!] = () => sampleOf(server, groups, isQuick ? 500 : 2_000);
      }
      const samples = await inTurns(isQuick ? 2 : 8, contenders);
      return counts.flatMap((count) => resultsOf(count, samples[count]!));
    });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function sampleOf(server: WorkersProcess, groups: readonly ClientGroup[], ms: number): Promise<Sample> {
  const before = { workers: server.workersMs(), primary: server.primaryMs() ?? 0 };
  const started = performance.now();
  const rate = await ratePerSecond(groups.length, ms, (client) => groups[client]!.repeat());
  const pulls = (rate * (performance.now() - started)) / 1_000;
  const used = server.workersMs().map((after, i) => after - before.workers[i]!);
  const primary = (server.primaryMs() ?? 0) - before.primary;
  const all = used.reduce((sum, one) => sum + one, 0);
  return {
    rate,
    perCore: (1_000 * pulls) / all,
    busiest: (100 * Math.max(...used)) / all,
    primary: (100 * primary) / (all + primary),
  };
}

function resultsOf(count: number, samples: readonly Sample[]): Result[] {
  const name = `no change, ${clients} users at once, ${count} worker${count > 1 ? 's' : ''}`;
  const line = (what: string, unit: string, of: (sample: Sample) => number): Result => ({
    name: `${name}: ${what}`,
    value: median(samples.map(of)),
    unit,
  });
  return [
    line('pulls', '/s', ({ rate }) => rate),
    line('pulls per core of the workers', '/s', ({ perCore }) => perCore),
    line("the busiest worker's part", '%', ({ busiest }) => busiest),
    line("the first process's part", '%', ({ primary }) => primary),
  ];
}
