/** Measures pulls after changes: the cost must grow with the changes, not with the data that the client holds. */
import { ClientGroup, pullOps } from '../../client/client-group.js';
import { todoOf, userOf } from '../../database.js';
import { atMost, ratioAtMost } from '../../goal.js';
import { costOf, costResults } from '../../meters.js';
import { type Bench, type Result, short, withConnections } from '../../scenario.js';
import { inTurns, median } from '../../statistics.js';

/** Changes this many todos of a user, each time others. */
async function change({ pool }: Bench, size: number, count: number): Promise<void> {
  const start = 1 + Math.floor(Math.random() * (size - count + 1));
  await pool.query({
    name: 'change',
    text: 'update todo set title = $3, done = not done where id between $1 and $2',
    values: [todoOf(size, start), todoOf(size, start + count - 1), `Changed ${Math.random()}`],
  });
}

export async function oneRow(bench: Bench): Promise<Result[]> {
  const { sizes, isQuick } = bench;
  return withConnections(async (open) => {
    const connection = await open(bench.server.url);
    const contenders: Record<string, () => Promise<number>> = {};
    for (const size of sizes) {
      const group = new ClientGroup(connection, userOf(size), `one${size}`);
      await group.pull();
      contenders[short(size)] = async () => {
        await change(bench, size, 1);
        return (await pullOps(group, 1)).ms;
      };
    }
    const samples = await inTurns(isQuick ? 20 : 150, contenders);
    const smallest = short(sizes[0]!);
    const pulls = isQuick ? 30 : 400;
    const cost = await costOf(bench, pulls, async () => {
      for (let i = 0; i < pulls; i++) await contenders[smallest]!();
    });
    return [
      ...sizes.map((size): Result => {
        const [value, limit] = [median(samples[short(size)]!), median(samples[smallest]!)];
        const name = `one row changed, ${short(size)}, p50`;
        const point = { plot: 'rows', curve: 'one row changed', x: size } as const;
        if (size === sizes[0]) return { name, value, unit: 'ms', goals: [atMost(1.5)], point };
        const limitName = `one row at ${smallest}`;
        const goals = [atMost(1.5), ratioAtMost(1.5)];
        return { name, value, unit: 'ms', limit, limitName, ratio: value / limit, goals, point };
      }),
      ...costResults(`one row changed, ${smallest}`, cost),
    ];
  });
}

export async function manyRows(bench: Bench): Promise<Result[]> {
  const size = bench.sizes.findLast((candidate) => candidate <= 100_000)!;
  const counts = [1, 10, 100, 1000, 10_000];
  const samples = await withConnections(async (open) => {
    const group = new ClientGroup(await open(bench.server.url), userOf(size), 'many');
    await group.pull();
    const contenders = Object.fromEntries(
      counts.map((count) => [
        `${count} rows`,
        async () => {
          await change(bench, size, count);
          return (await pullOps(group, count)).ms;
        },
      ]),
    );
    return inTurns(bench.isQuick ? 3 : 15, contenders);
  });
  return counts.map((count): Result => {
    const ms = median(samples[`${count} rows`]!);
    return {
      name: `${count} ${count === 1 ? 'row' : 'rows'} changed, ${short(size)}, p50`,
      value: ms,
      unit: 'ms',
      note: `${((1000 * ms) / count).toFixed(0)} µs a row`,
    };
  });
}

/** Many clients of one view pull at the same time after one change. */
export async function herd(bench: Bench): Promise<Result[]> {
  const size = bench.sizes.findLast((candidate) => candidate <= 10_000)!;
  const herds = [200, 1000];
  const samples = await withConnections(async (open) => {
    const groups = await Promise.all(
      Array.from(
        { length: Math.max(...herds) },
        async (_, i) => new ClientGroup(await open(bench.server.url), userOf(size), `herd${i}`),
      ),
    );
    await groups[0]!.pull();
    for (const group of groups) group.cookie = groups[0]!.cookie;
    const round = (clients: number) => async () => {
      await change(bench, size, 1);
      const started = performance.now();
      await Promise.all(groups.slice(0, clients).map((group) => group.pull()));
      const ms = performance.now() - started;
      for (const group of groups) group.cookie = groups[0]!.cookie;
      return ms;
    };
    const contenders = Object.fromEntries(herds.map((clients) => [clients, round(clients)]));
    await inTurns(1, contenders);
    return inTurns(bench.isQuick ? 2 : 7, contenders);
  });
  const smallest = median(samples[herds[0]!]!);
  return herds.map((clients, i): Result => {
    const ms = median(samples[clients]!);
    const best = Math.min(...samples[clients]!);
    return {
      name: `${clients} clients of one user after one change, ${short(size)}`,
      value: ms,
      unit: 'ms',
      note: `best ${best.toFixed(0)} ms`,
      ...(i === 0
        ? { goals: [atMost(25)] }
        : { limit: smallest, limitName: `${herds[0]} clients`, ratio: ms / smallest, goals: [ratioAtMost(5)] }),
    };
  });
}
