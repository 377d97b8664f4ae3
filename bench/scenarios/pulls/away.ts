/** Measures clients that return after minutes of many foreign writes to the tables that their views read. */
import pg from 'pg';
import { ClientGroup, pullOps } from '../../client/client-group.js';
import { seedTodos, todoOf, userOf } from '../../database.js';
import { atMost } from '../../goal.js';
import { type ServerProcess, startServer } from '../../processes.js';
import { type Bench, type Result, type Scale, short, withConnections, withDatabase } from '../../scenario.js';
import { median } from '../../statistics.js';

const writesPerSecond = 2000;
const secondsAway: Readonly<Record<Scale, number>> = { quick: 10, usual: 60, full: 600 };
/** The clients that are away, by the number of todos that each sees. */
const away = [1000, 1100, 1200];
/** The user who writes, and owns all written todos. */
const stranger = 200_000;
const writers = 4;

export function awayFromForeignWrites(bench: Bench): Promise<Result[]> {
  return withDatabase(bench, 'away', async ({ pool, url }) => {
    await seedTodos(pool, [...away, stranger]);
    const running = await startServer(url, { application: 'todos' });
    const servers = [running];
    try {
      const [stayed, restarted] = [await firstPulls(running, 'stayed'), await firstPulls(running, 'restarted')];
      const rows = writesPerSecond * secondsAway[bench.scale];
      bench.progress(`away: ${short(rows)} unrelated writes`);
      await writeForeign(url, rows);
      bench.progress('away: the clients come back');
      const name = `away for ${secondsAway[bench.scale]} s, ${short(rows)} unrelated writes`;
      const results = await comeBack(running, stayed, name);
      const { rssMB } = await running.ask<{ rssMB: number }>({});
      await running.stop();
      servers.pop();
      const started = await startServer(url, { application: 'todos' });
      servers.push(started);
      return [
        ...results,
        { name: `${name}: the server's memory`, value: rssMB, unit: 'MB' },
        ...(await comeBack(started, restarted, `${name}, server restarted`)),
      ];
    } finally {
      for (const server of servers) await server.stop();
    }
  });
}

interface Returning {
  readonly user: string;
  readonly id: string;
  readonly cookie: string;
  readonly rows: number;
}

function firstPulls({ url }: ServerProcess, id: string): Promise<Returning[]> {
  return withConnections(async (open) => {
    const connection = await open(url);
    const clients: Returning[] = [];
    for (const size of away) {
      const user = userOf(size);
      const group = new ClientGroup(connection, user, `${id} ${user}`);
      const rows = size + size / 100;
      await pullOps(group, rows);
      clients.push({ user, id: `${id} ${user}`, cookie: group.cookie, rows });
    }
    return clients;
  });
}

/** Writes faster than in real time, but in transactions of a realistic size: 20 to 100 rows. */
async function writeForeign(url: string, rows: number): Promise<void> {
  let left = rows;
  // Each writer has its own todos, to avoid deadlocks.
  const todos = stranger / writers;
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      while (left > 0) {
        const count = Math.min(left, 20 + Math.floor(81 * Math.random()));
        left -= count;
        const start = 1 + writer * todos + Math.floor(Math.random() * (todos - count + 1));
        const { rowCount } = await client.query({
          name: 'foreign',
          text: 'update todo set title = $3 where id between $1 and $2',
          values: [todoOf(stranger, start), todoOf(stranger, start + count - 1), `Foreign ${Math.random()}`],
        });
        if (rowCount !== count) throw new Error(`${rowCount} foreign rows were written, not ${count}`);
      }
      await client.end();
    }),
  );
}

/**
 * The first and the second pull of each returning client, one client after the other. Their views are unchanged, but a
 * reset may be cheaper than determining that.
 */
function comeBack({ url }: ServerProcess, clients: readonly Returning[], name: string): Promise<Result[]> {
  return withConnections(async (open) => {
    const [first, second]: [number[], number[]] = [[], []];
    const connection = await open(url);
    for (const { user, id, cookie, rows } of clients) {
      const group = new ClientGroup(connection, user, id);
      group.cookie = cookie;
      first.push((await pullOps(group, 0, rows)).ms);
      second.push((await pullOps(group, 0)).ms);
    }
    const note = `the first of all ${first[0]!.toFixed(1)} ms, of ${clients.length} users`;
    return [
      { name: `${name}: first pull`, value: median(first), unit: 'ms', goals: [atMost(5)], note },
      { name: `${name}: second pull`, value: median(second), unit: 'ms' },
    ];
  });
}
