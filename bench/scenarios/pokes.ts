/** Measures pokes: which clients a write reaches and how soon, the cost of a stream, and idle subscribers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { atMost, type Goal } from '../goal.js';
import { backendsOf, cpuBetween } from '../meters.js';
import { type ServerProcess, type ServerState, startProcess, startServer } from '../processes.js';
import { type Bench, type Result, withDatabase } from '../scenario.js';
import type { Arrivals, Order } from '../servers/listeners.js';
import { median, quantile } from '../statistics.js';

/** One server, one loader and a database, and the sizes to measure. */
interface Stage {
  readonly pool: pg.Pool;
  readonly server: ServerProcess;
  readonly tenants: number;
  readonly users: number;
  readonly streams: number;
  readonly rounds: number;
  order<Answer>(order: Order): Promise<Answer>;
  progress(message: string): void;
}

/** The tenant of which all users are members. */
const everyone = 0;

export function pokes(bench: Bench): Promise<Result[]> {
  const { isQuick, progress } = bench;
  return withDatabase(bench, 'pokes', async ({ pool, url }) => {
    const tenants = isQuick ? 10 : 100;
    const users = 10 * tenants;
    await seed(pool, tenants, users);
    const loader = await startProcess('listeners.ts', url);
    const order = <Answer>(one: Order) => loader.ask<Answer>(one);
    const sizes = { tenants, users, streams: 2 * users, rounds: isQuick ? 5 : 30 };
    const results: Result[] = [];
    try {
      for (const measure of [oneTenant, streams]) {
        // A server of its own, because its memory is measured.
        const server = await startServer(url, { application: 'documents' });
        results.push(...(await measure({ ...sizes, pool, server, order, progress }).finally(server.stop)));
      }
      return results;
    } finally {
      await loader.stop();
    }
  });
}

/** Each tenant has ten users of its own and twenty documents. */
async function seed(pool: pg.Pool, tenants: number, users: number): Promise<void> {
  await pool.query(`
    create table member (tenant_id integer, user_id text, primary key (user_id, tenant_id));
    create table doc (id integer primary key, tenant_id integer not null, title text not null);
    create index on doc (tenant_id)`);
  await pool.query(
    `insert into member select t, 'user' || n from generate_series(0, $2::integer - 1) n cross join lateral (values (${everyone}), (1 + n % $1::integer)) v (t)`,
    [tenants, users],
  );
  await pool.query(
    `insert into doc select n, n % ($1::integer + 1), 'Document ' || n from generate_series(0, 20 * ($1::integer + 1) - 1) n`,
    [tenants],
  );
  await pool.query('vacuum analyze');
}

function usersOf(clients: number, users: number): string[] {
  return Array.from({ length: clients }, (_, i) => `user${i % users}`);
}

/** Commits a change to one of a tenant's documents, and returns the clock time just after. */
async function write({ pool, tenants }: Stage, tenant: number): Promise<number> {
  const id = tenant + (tenants + 1) * Math.floor(20 * Math.random());
  await pool.query({
    name: 'write',
    text: 'update doc set title = $2 where id = $1',
    values: [id, `${Math.random()}`],
  });
  return performance.timeOrigin + performance.now();
}

async function arrivalsOf(stage: Stage, tenant: number, expected: number): Promise<Arrivals & { committed: number }> {
  await stage.order({ do: 'reset' });
  const committed = await write(stage, tenant);
  return { committed, ...(await stage.order<Arrivals>({ do: 'await', pokes: expected })) };
}

async function oneTenant(stage: Stage): Promise<Result[]> {
  const { order, server, users, tenants, rounds, progress } = stage;
  progress(`pokes: ${users} users of ${tenants} tenants`);
  await order({ do: 'open', url: server.url, users: usersOf(users, users), pulls: true });
  const idle = await idleCost(stage);
  // Code is slow until it has run many times, and the server polls rarely after a quiet time.
  for (let round = 0; round < 5; round++) await arrivalsOf(stage, 1 + round, users / tenants);
  await order({ do: 'pull' });
  const counts: number[] = [];
  const pulls: number[] = [];
  const pokes: number[] = [];
  const last: number[] = [];
  const settled: number[] = [];
  const herds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const concerned = users / tenants;
    const arrivals = await arrivalsOf(stage, 1 + (round % tenants), concerned);
    counts.push(arrivals.pokes.length);
    pulls.push(arrivals.pulls);
    pokes.push(...arrivals.pokes.map((at) => at - arrivals.committed));
    last.push(arrivals.pokes.at(-1)! - arrivals.committed);
    settled.push(arrivals.pulledAt - arrivals.committed);
    if (round % 5 !== 0) continue;
    // As if all users had been poked.
    const started = performance.now();
    await order({ do: 'pull' });
    herds.push(performance.now() - started);
  }
  await order({ do: 'close' });
  const single = await singleWrites(stage);
  const name = `write for ${users / tenants} of ${users} clients`;
  return [
    { name: `${name}: pokes`, value: median(counts), unit: '', note: `max ${Math.max(...counts)}` },
    { name: `${name}: pulls`, value: median(pulls), unit: '', limit: users, limitName: 'poking all' },
    quantileOf(`${name}: commit to poke`, pokes, 0.5, atMost(15)),
    quantileOf(`${name}: commit to poke`, pokes, 0.95, atMost(30)),
    latency(`${name}: commit to last poke`, last),
    {
      ...latency(`${name}: commit to last pull`, settled),
      limit: median(herds),
      limitName: 'pulls of all clients, without the poke',
    },
    ...single,
    ...idle,
  ];
}

/** Writes to one tenant after random pauses of 0.5 to 5 s, and measures what the database's processes spend on that. */
async function singleWrites(stage: Stage): Promise<Result[]> {
  const { pool, server, order, users, tenants, rounds, progress } = stage;
  progress('pokes: single writes');
  const concerned = users / tenants;
  // The first tenant's users, in the numbering of `seed`.
  const listening = Array.from({ length: concerned }, (_, i) => `user${i * tenants}`);
  await order({ do: 'open', url: server.url, users: listening, pulls: false });
  const first: number[] = [];
  const started = performance.now();
  const before = await backendsOf(pool);
  for (const pauseMs of pausesInRandomOrder(rounds)) {
    await sleep(pauseMs);
    const { committed, pokes: arrived } = await arrivalsOf(stage, 1, concerned);
    first.push(arrived[0]! - committed);
  }
  await order({ do: 'close' });
  const share = (100 * cpuBetween(before, await backendsOf(pool))) / (performance.now() - started);
  const name = `${concerned} clients, write after 0.5 to 5 s without one`;
  return [
    quantileOf(`${name}: commit to first poke`, first, 0.5, atMost(12)),
    quantileOf(`${name}: commit to first poke`, first, 0.95, atMost(30)),
    { name: `${concerned} clients, write each 0.5 to 5 s: Postgres's CPU`, value: share, unit: '% of a core' },
  ];
}

/** Pauses of 0.5 to 5 s, evenly spread, so that every run waits equally long in total. */
function pausesInRandomOrder(count: number): number[] {
  return Array.from({ length: count }, (_, i) => ({ pauseMs: 500 + (4_500 * (i + 0.5)) / count, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ pauseMs }) => pauseMs);
}

function latency(name: string, samples: readonly number[]): Result {
  return { name, value: median(samples), unit: 'ms', note: `p95 ${quantile(samples, 0.95).toFixed(0)} ms` };
}

function quantileOf(name: string, samples: readonly number[], q: number, goal: Goal): Result {
  return { name: `${name}, p${100 * q}`, value: quantile(samples, q), unit: 'ms', goals: [goal] };
}

/** Measures what the server and Postgres do while there are many subscribers and no changes. */
async function idleCost({ pool, server, users, progress }: Stage): Promise<Result[]> {
  progress('pokes: nothing happens');
  const seconds = 5;
  const commits = async () => {
    const { rows } = await pool.query<{ n: number }>(
      'select xact_commit::float8 as n from pg_stat_database where datname = current_database()',
    );
    return rows[0]!.n;
  };
  // A connection that becomes idle reports its transactions up to ten seconds later.
  await sleep(12_000);
  const before = {
    server: (await server.ask<ServerState>({})).cpuMs,
    postgres: await backendsOf(pool),
    commits: await commits(),
  };
  await sleep(1_000 * seconds);
  const after = {
    server: (await server.ask<ServerState>({})).cpuMs,
    postgres: await backendsOf(pool),
    commits: await commits(),
  };
  const name = `${users} subscribers, idle`;
  const share = (ms: number) => ms / (10 * seconds);
  return [
    { name: `${name}: transactions`, value: (after.commits - before.commits) / seconds, unit: '/s' },
    { name: `${name}: the server's CPU`, value: share(after.server - before.server), unit: '% of a core' },
    { name: `${name}: Postgres's CPU`, value: share(cpuBetween(before.postgres, after.postgres)), unit: '% of a core' },
  ];
}

/** Repeatedly opens streams, pokes them all with one commit, and closes them: memory must not grow. */
async function streams(stage: Stage): Promise<Result[]> {
  const { order, server, users, streams: count, progress } = stage;
  const before = await server.ask<ServerState>({});
  const opened: number[] = [];
  const closed: ServerState[] = [];
  const last: number[] = [];
  for (let round = 1; round <= 4; round++) {
    progress(`pokes: ${count} streams, round ${round}`);
    await order({ do: 'open', url: server.url, users: usersOf(count, users), pulls: false });
    opened.push((await server.ask<ServerState>({})).rssMB);
    for (let i = 0; i < 3; i++) {
      const { committed, pokes: arrived } = await arrivalsOf(stage, everyone, count);
      if (arrived.length !== count) throw new Error(`${arrived.length} pokes for ${count} streams`);
      last.push(arrived.at(-1)! - committed);
    }
    await order({ do: 'close' });
    await nobodyListens(server.url);
    closed.push(await server.ask<ServerState>({}));
  }
  const list = (values: readonly number[]) => values.map((value) => value.toFixed(0)).join(', ');
  const heap = closed.map(({ heapMB }) => heapMB);
  return [
    latency(`write for all of ${count} streams: commit to last poke`, last),
    {
      name: 'memory of a stream',
      value: (1024 * (median(opened) - before.rssMB)) / count,
      unit: 'kB',
      note: `RSS ${before.rssMB.toFixed(0)} MB before; open ${list(opened)} MB`,
    },
    {
      name: `heap after ${count} streams were closed, the last time`,
      value: heap.at(-1)!,
      unit: 'MB',
      limit: heap[0]!,
      limitName: 'the first time',
      ratio: heap.at(-1)! / heap[0]!,
      note: `RSS ${list(closed.map(({ rssMB }) => rssMB))} MB; sockets ${list(closed.map(({ sockets }) => sockets))}`,
    },
  ];
}

async function nobodyListens(url: string): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(50)) {
    const { pokes } = (await (await fetch(`${url}/readyz`)).json()) as { pokes: { subscribers: number } };
    if (pokes.subscribers === 0) return;
  }
  throw new Error('streams that were closed are listened on');
}
