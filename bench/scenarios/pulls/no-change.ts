/** Measures a pull that finds no change, which is what most pulls are. */
import { ClientGroup } from '../../client/client-group.js';
import type { Connection } from '../../client/connection.js';
import { addUsers, userOf } from '../../database.js';
import { atMost, type Goal, ratioAtLeast } from '../../goal.js';
import { costOf, costResults } from '../../meters.js';
import { type Bench, type Result, short, withConnections } from '../../scenario.js';
import { inTurns, median, quantile, ratePerSecond } from '../../statistics.js';

const limitName = 'HTTP + one query';
const few = 16;
const many = 256;

/** The work of the n-th worker. */
type Work = (worker: number) => Promise<unknown>;

export async function noChange(bench: Bench): Promise<Result[]> {
  return withConnections(async (open) => {
    const { server, limits, isQuick } = bench;
    const sizes = bench.sizes.map(short);
    const smallest = sizes[0]!;
    const connections = await Promise.all(Array.from({ length: many }, () => open(server.url)));
    const bareConnections = await Promise.all(Array.from({ length: many }, () => open(limits.url)));
    const bare: Work = (worker) => bareConnections[worker]!.post('/query', 'nobody', '{}');
    // First, because adding users changes a table that all views read.
    const users = await distinctUsers(bench, connections);
    const ofSize: Record<string, Work> = {};
    for (const size of bench.sizes) {
      // Only a few clients for larger views, because their first pulls would take long.
      ofSize[short(size)] = await oneUser(connections.slice(0, size === bench.sizes[0] ? many : few), size);
    }

    const latency = await inTurns(isQuick ? 30 : 200, timed({ ...ofSize, bare }, 3));
    bench.progress('no change: latencies are taken, now the rates');
    const contenders: Record<string, () => Promise<number>> = {};
    const rated = (name: string, workers: number, work: Work) => {
      contenders[name] = () => ratePerSecond(workers, isQuick ? 150 : 200, work);
    };
    for (const workers of [1, few, many]) rated(`bare ${workers}`, workers, bare);
    for (const size of sizes) rated(`${size}, ${few} at once`, few, ofSize[size]!);
    for (const workers of [1, many]) rated(`${smallest}, ${workers} at once`, workers, ofSize[smallest]!);
    for (const workers of [few, many]) rated(`${workers} users at once`, workers, users);
    const rates = await inTurns(isQuick ? 2 : 12, contenders);

    const rate = (name: string, workers: number, goal?: Goal): Result => {
      const [value, limit] = [median(rates[name]!), median(rates[`bare ${workers}`]!)];
      const goals = goal && { goals: [goal] };
      return { name: `no change, ${name}`, value, unit: '/s', limit, limitName, ratio: value / limit, ...goals };
    };
    const pulls = isQuick ? 500 : 5000;
    const cost = await costOf(bench, pulls, () => repeated(few, pulls / few, users));
    return [
      ...sizes.flatMap((size, i) => latencies(size, latency, { smallest, x: bench.sizes[i]! })),
      rate(`${smallest}, 1 at once`, 1),
      ...sizes.map((size) => rate(`${size}, ${few} at once`, few, ratioAtLeast(1.2))),
      rate(`${smallest}, ${many} at once`, many, ratioAtLeast(1.5)),
      rate(`${few} users at once`, few, ratioAtLeast(1.2)),
      rate(`${many} users at once`, many, ratioAtLeast(1.5)),
      // The server's periodic statements are spread over the pulls.
      ...costResults(`no change, ${few} users at once`, cost, { serverUs: atMost(80), statements: atMost(0.05) }),
    ];
  });
}

/** Clients of one user. */
async function oneUser(connections: readonly Connection[], size: number): Promise<Work> {
  const groups = connections.map((connection, i) => new ClientGroup(connection, userOf(size), `none${size}.${i}`));
  for (const group of groups) await group.pull();
  return (worker) => groups[worker]!.repeat();
}

/** A client each of unrelated users who see the same list. */
async function distinctUsers({ pool, sizes }: Bench, connections: readonly Connection[]): Promise<Work> {
  const users = await addUsers(pool, `l${sizes[0]}.2`, many);
  const groups = users.map((user, i) => new ClientGroup(connections[i]!, user, `none ${user}`));
  for (const group of groups) await group.pull();
  return (worker) => groups[worker]!.repeat();
}

function repeated(workers: number, times: number, work: Work): Promise<unknown> {
  return Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let i = 0; i < times; i++) await work(worker);
    }),
  );
}

/** Some untimed calls, then a timed one, because caches are cold after another contender's turn. */
function timed(contenders: Readonly<Record<string, Work>>, warmUps: number): Record<string, () => Promise<number>> {
  const timedOnce = (work: Work) => async () => {
    for (let i = 0; i < warmUps; i++) await work(0);
    const started = performance.now();
    await work(0);
    return performance.now() - started;
  };
  return Object.fromEntries(Object.entries(contenders).map(([name, work]) => [name, timedOnce(work)]));
}

function latencies(
  size: string,
  latency: Record<string, number[]>,
  { smallest, x }: { smallest: string; x: number },
): Result[] {
  const growth = median(latency[size]!) / median(latency[smallest]!);
  const result = (q: number): Result => {
    const [value, limit] = [quantile(latency[size]!, q), quantile(latency.bare!, q)];
    return {
      name: `no change, ${size}, p${100 * q}`,
      value,
      unit: 'ms',
      limit,
      limitName,
      ratio: value / limit,
    };
  };
  return [
    {
      ...result(0.5),
      point: { plot: 'rows', curve: 'no change', x },
      ...(size !== smallest && { note: `${growth.toFixed(2)} × ${smallest}` }),
    },
    result(0.95),
  ];
}
