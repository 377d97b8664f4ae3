/** Measures what pushing through the server costs writers: one mutation at a time, and many in one push. */
import { Pusher } from '../../client/pusher.js';
import { todoOf, userOf } from '../../database.js';
import { type Goal, ratioAtLeast } from '../../goal.js';
import { costOf, costResults } from '../../meters.js';
import { type Bench, type Result, short, withConnections } from '../../scenario.js';
import { inTurns, median, ratePerSecond } from '../../statistics.js';

const writers = 16;

/** The mutations of a push, the rounds, and the speedup that a push should have over a commit for each mutation. */
const batches: readonly { readonly count: number; readonly rounds: number; readonly goal?: Goal }[] = [
  { count: 1, rounds: 60 },
  { count: 100, rounds: 9 },
  { count: 1000, rounds: 3, goal: ratioAtLeast(5) },
  { count: 3000, rounds: 1 },
];

export async function push(bench: Bench): Promise<Result[]> {
  const { pool, sizes } = bench;
  const size = sizes[0]!;
  const ids = Array.from({ length: writers }, (_, i) => todoOf(size, i + 1));
  await pool.query(`insert into tidemark.client_group (id, user_id) values ('bare', 'nobody')`);
  await pool.query(
    `insert into tidemark.client (id, client_group_id, last_mutation_id, xid)
     select 'bare' || n, 'bare', 0, pg_current_xact_id() from generate_series(0, $1::integer) n`,
    [writers],
  );
  return withConnections(async (open) => {
    const pushers = await Promise.all(
      ids.map(
        async (id, i) =>
          new Pusher(await open(bench.server.url), {
            user: userOf(size),
            id: `writer${i}`,
            mutator: 'todo.rename',
            row: id,
          }),
      ),
    );
    return [...(await oneByOne(bench, pushers, ids)), ...(await together(bench, pushers[0]!, ids[0]!))];
  });
}

/** Each writer pushes mutations of its own todo one at a time, without pauses. */
async function oneByOne(bench: Bench, pushers: readonly Pusher[], ids: readonly string[]): Promise<Result[]> {
  const { limits, isQuick } = bench;
  const milliseconds = isQuick ? 300 : 1200;
  const rates = await inTurns(isQuick ? 2 : 5, {
    ours: () => ratePerSecond(writers, milliseconds, (worker) => pushers[worker]!.push()),
    bare: async () => {
      const { committed } = await limits.ask<{ committed: number }>({ ids, milliseconds });
      return (1000 * committed) / milliseconds;
    },
  });
  const pushes = isQuick ? 50 : 500;
  const cost = await costOf(bench, pushes, async () => {
    for (let i = 0; i < pushes; i++) await pushers[0]!.push();
  });
  const [value, limit] = [median(rates.ours), median(rates.bare)];
  const name = `pushes, ${writers} clients`;
  const goals = [ratioAtLeast(0.7)];
  return [
    { name, value, unit: '/s', limit, limitName: 'the same statements', ratio: value / limit, goals },
    ...costResults('pushes, one after the other', cost),
  ];
}

/** Whole pushes of one client, as after a time offline, against a commit for each mutation, and against one for all. */
async function together({ limits, scale, progress }: Bench, pusher: Pusher, id: string): Promise<Result[]> {
  const results: Result[] = [];
  for (const { count, rounds, goal } of batches) {
    progress(`push: ${count} in one`);
    const bare = (commits: number) => async () => (await limits.ask<{ ms: number }>({ id, count, commits })).ms;
    const samples = await inTurns(scale === 'full' ? 3 * rounds : scale === 'usual' ? rounds : Math.ceil(rounds / 10), {
      ours: async () => {
        const started = performance.now();
        await pusher.push(count);
        return performance.now() - started;
      },
      commits: bare(count),
      one: bare(1),
    });
    const each = (ms: readonly number[]) => (1000 * median(ms)) / count;
    const [value, commits, one] = [each(samples.ours), each(samples.commits), each(samples.one)];
    const name = `push of ${short(count)}, per mutation`;
    results.push({
      name: `${name}, against commits`,
      value,
      unit: 'µs',
      limit: commits,
      limitName: 'as many commits: times as fast',
      ratio: commits / value,
      ...(goal && { goals: [goal] }),
    });
    if (count > 1)
      results.push({
        name: `${name}, against one transaction`,
        value,
        unit: 'µs',
        limit: one,
        limitName: 'one transaction',
        ratio: value / one,
      });
  }
  return results;
}
