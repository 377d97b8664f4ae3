/** What writers pay: for change capture, and for pushing through the server. */
import pg from 'pg';
import { defineView, sql } from '../../src/index.js';
import { migrate } from '../../src/migrate.js';
import { todoOf, userOf } from '../database.js';
import { type Bench, type Result, short, withConnections } from '../scenario.js';
import { inTurns, median, ratePerSecond } from '../statistics.js';

const writers = 16;
const bulkRows = 100_000;
const rowsPerWriter = 100;
const manyMutations = 1000;
const limitName = 'the same without capture';

type TableName = 'plain' | 'captured';

export async function capture(bench: Bench): Promise<Result[]> {
  const { pool, databaseURL, isQuick } = bench;
  await migrate({
    database: databaseURL,
    views: {
      captured: defineView({
        query: ({ ctx }: { ctx: { userID: string } }) =>
          sql<{ id: number }>`select * from captured where owner_id = ${ctx.userID}`,
        key: 'id',
      }),
    },
  });
  const results: Result[] = [];
  const clients = Array.from({ length: writers }, () => new pg.Client({ connectionString: databaseURL }));
  await Promise.all(clients.map((client) => client.connect()));
  for (const table of ['plain', 'captured'] as const) await fill(pool, table, writers * rowsPerWriter);
  const updates = (table: TableName) => () =>
    ratePerSecond(writers, isQuick ? 200 : 800, (worker) =>
      clients[worker]!.query({
        name: `update_${table}`,
        text: `update ${table} set title = $2 where id = $1`,
        values: [1 + worker * rowsPerWriter + Math.floor(Math.random() * rowsPerWriter), `Title ${Math.random()}`],
      }),
    );
  const rates = await inTurns(isQuick ? 2 : 6, { plain: updates('plain'), captured: updates('captured') });
  await Promise.all(clients.map((client) => client.end()));
  results.push({
    name: `one-row updates, ${writers} clients`,
    value: median(rates.captured),
    unit: '/s',
    limit: median(rates.plain),
    limitName,
    ratio: median(rates.plain) / median(rates.captured),
    goal: '≤ 1.35 × the time',
  });

  bench.progress('change capture: bulk writes');
  const bulk = (table: TableName) => async () => {
    await pool.query(`truncate ${table}`);
    await pool.query('delete from tidemark.change where xid < pg_current_xact_id()');
    await pool.query('vacuum tidemark.change');
    const insert = await timeOf(() => fill(pool, table, bulkRows));
    const update = await timeOf(() => pool.query(`update ${table} set title = title || '!'`));
    return { insert, update };
  };
  const times = await inTurns(isQuick ? 1 : 4, { plain: bulk('plain'), captured: bulk('captured') });
  for (const verb of ['insert', 'update'] as const) {
    const value = median(times.captured.map((sample) => sample[verb]));
    const limit = median(times.plain.map((sample) => sample[verb]));
    results.push({
      name: `${verb} of ${short(bulkRows)} rows`,
      value,
      unit: 'ms',
      limit,
      limitName,
      ratio: value / limit,
      goal: '≤ 2.4 × the time',
    });
  }
  return results;
}

/** Rows of about 200 bytes. */
function fill(pool: pg.Pool, table: TableName, rows: number): Promise<unknown> {
  return pool.query(
    `insert into ${table} select n, 'owner ' || n % 100, 'Title ' || n, rpad('', 150, md5(n::text)) from generate_series(1, $1::integer) n`,
    [rows],
  );
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Every writer pushes mutations of its own todo, one at a time, as fast as they are answered. Then one writer pushes
 * many at once.
 */
export async function push(bench: Bench): Promise<Result[]> {
  const { pool, server, limits, sizes, isQuick } = bench;
  const size = sizes[0]!;
  const ids = Array.from({ length: writers }, (_, i) => todoOf(size, i + 1));
  await pool.query(`insert into tidemark.client_group (id, user_id) values ('bare', 'nobody')`);
  await pool.query(
    `insert into tidemark.client (id, client_group_id, last_mutation_id, xid)
     select 'bare' || n, 'bare', 0, pg_current_xact_id() from generate_series(0, $1::integer) n`,
    [writers],
  );
  const milliseconds = isQuick ? 300 : 1200;
  return withConnections(async (open) => {
    const connections = await Promise.all(ids.map(() => open(server.url)));
    const counts = ids.map(() => 0);
    const mutation = (worker: number) => {
      const id = ++counts[worker]!;
      const args = { id: ids[worker], title: `Pushed ${id}` };
      return { clientID: `writer${worker}`, id, name: 'todo.rename', args, timestamp: 0 };
    };
    const mutate = (worker: number, mutations = 1) => {
      const body = {
        profileID: 'p',
        clientGroupID: `pushing${worker}`,
        mutations: Array.from({ length: mutations }, () => mutation(worker)),
        pushVersion: 1,
        schemaVersion: '',
      };
      return connections[worker]!.post('/sync/push', userOf(size), JSON.stringify(body));
    };
    const commits = async (writers: number, milliseconds: number) => {
      const { committed } = await limits.ask<{ committed: number }>({ ids: ids.slice(0, writers), milliseconds });
      return committed / milliseconds;
    };
    const rates = await inTurns(isQuick ? 2 : 5, {
      ours: () => ratePerSecond(writers, milliseconds, mutate),
      bare: async () => 1000 * (await commits(writers, milliseconds)),
    });
    const times = await inTurns(isQuick ? 2 : 5, {
      ours: () => timeOf(() => mutate(0, manyMutations)),
      bare: async () => manyMutations / (await commits(1, milliseconds)),
    });
    return [
      {
        name: `pushes, ${writers} clients`,
        value: median(rates.ours),
        unit: '/s',
        limit: median(rates.bare),
        limitName: 'the same statements',
        ratio: median(rates.ours) / median(rates.bare),
        goal: '≥ 0.7 × the limit',
      },
      {
        name: `a push of ${short(manyMutations)} mutations`,
        value: median(times.ours),
        unit: 'ms',
        limit: median(times.bare),
        limitName: 'as many transactions',
        ratio: median(times.ours) / median(times.bare),
        goal: '≤ 0.2 × the time',
      },
    ];
  });
}
