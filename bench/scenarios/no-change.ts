/** A pull to which nothing has happened: most pulls are. */
import { ClientGroup } from '../client-group.js';
import { userOf } from '../database.js';
import type { ServerProcess } from '../processes.js';
import { type Bench, type Result, short, withConnections } from '../scenario.js';
import { inTurns, median, quantile, ratePerSecond } from '../statistics.js';

const concurrency = 16;
const limitName = 'HTTP + one query';

export async function noChange(bench: Bench): Promise<Result[]> {
  return withConnections(async (open) => {
    const { server, limits, sizes, isQuick } = bench;
    const contenders: Record<string, ((worker: number) => Promise<unknown>) | undefined> = {};
    for (const size of sizes) {
      const groups = await Promise.all(
        Array.from(
          { length: concurrency },
          async (_, i) => new ClientGroup(await open(server.url), userOf(size), `none${size}.${i}`),
        ),
      );
      await groups[0]!.pull();
      for (const group of groups) group.cookie = groups[0]!.cookie;
      contenders[short(size)] = (worker) => groups[worker]!.repeat();
    }
    const bare = await Promise.all(Array.from({ length: concurrency }, () => open(limits.url)));
    contenders[limitName] = (worker) => bare[worker]!.post('/query', 'nobody', '{}');

    const latency = await inTurns(isQuick ? 30 : 300, timed(contenders, 3));
    bench.progress('no change: latencies are taken, now the rates');
    const slice = isQuick ? 150 : 700;
    const rates = await inTurns(isQuick ? 2 : 5, rated(contenders, slice));
    const cpu = await processorTime(server, contenders[short(sizes[0]!)]!, isQuick ? 500 : 5000);
    return [...results(sizes.map(short), latency, rates), ...cpu];
  });
}

/** What the server's process spends on a pull. Node spends some of it beside its main thread. */
async function processorTime(
  server: ServerProcess,
  work: (worker: number) => Promise<unknown>,
  pulls: number,
): Promise<Result[]> {
  const before = server.cpuMs();
  await Promise.all(
    Array.from({ length: concurrency }, async (_, worker) => {
      for (let i = 0; i < pulls / concurrency; i++) await work(worker);
    }),
  );
  const after = server.cpuMs();
  if (before === undefined || after === undefined) return [];
  return [
    {
      name: "no change, the server's processor time",
      value: (1000 * (after - before)) / pulls,
      unit: 'µs',
      goal: '≤ 80 µs',
    },
  ];
}

type Contenders = Record<string, ((worker: number) => Promise<unknown>) | undefined>;

/** Some calls untimed, one timed: after another contender's turn, caches are cold. */
function timed(contenders: Contenders, warmUps: number): Record<string, () => Promise<number>> {
  return mapValues(contenders, (work) => async () => {
    for (let i = 0; i < warmUps; i++) await work(0);
    const started = performance.now();
    await work(0);
    return performance.now() - started;
  });
}

function rated(contenders: Contenders, milliseconds: number): Record<string, () => Promise<number>> {
  return mapValues(contenders, (work) => () => ratePerSecond(concurrency, milliseconds, work));
}

function mapValues<T>(
  contenders: Contenders,
  map: (work: (worker: number) => Promise<unknown>) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(contenders).map(([name, work]) => [name, map(work!)]));
}

function results(
  sizes: readonly string[],
  latency: Record<string, number[]>,
  rates: Record<string, number[]>,
): Result[] {
  const bareMs = median(latency[limitName]!);
  const bareRate = median(rates[limitName]!);
  const first = sizes[0]!;
  return sizes.flatMap((size): Result[] => {
    const ms = median(latency[size]!);
    const rate = median(rates[size]!);
    const growth = ms / median(latency[first]!);
    return [
      {
        name: `no change, ${size}, p50`,
        value: ms,
        unit: 'ms',
        limit: bareMs,
        limitName,
        ratio: ms / bareMs,
        ...(size !== first && { goal: '≤ 2 × the smallest view', note: `${growth.toFixed(2)} × ${first}` }),
      },
      {
        name: `no change, ${size}, p95`,
        value: quantile(latency[size]!, 0.95),
        unit: 'ms',
        limit: quantile(latency[limitName]!, 0.95),
        limitName,
        ratio: quantile(latency[size]!, 0.95) / quantile(latency[limitName]!, 0.95),
      },
      {
        name: `no change, ${size}, ${concurrency} at once`,
        value: rate,
        unit: '/s',
        limit: bareRate,
        limitName,
        ratio: rate / bareRate,
        goal: '≥ 0.6 × the limit',
      },
    ];
  });
}
