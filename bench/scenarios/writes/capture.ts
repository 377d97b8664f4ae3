/** Measures what change capture costs writers. */
import pg from 'pg';
import { defineView, sql } from '../../../packages/tidemark/src/index.js';
import { migrate } from '../../../packages/tidemark/src/migrate.js';
import { ratioAtMost } from '../../goal.js';
import { type Bench, type Result, short } from '../../scenario.js';
import { inTurns, median, ratePerSecond } from '../../statistics.js';

const writers = 16;
const bulkRows = 100_000;
const rowsPerWriter = 100;
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
  const [value, limit] = [rates.captured, rates.plain].map((samples) => (1000 * writers) / median(samples));
  results.push({
    name: `update of one row, ${writers} clients at once`,
    value: value!,
    unit: 'ms',
    limit: limit!,
    limitName,
    ratio: value! / limit!,
    goals: [ratioAtMost(1.3)],
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
  for (const [verb, bound] of [
    ['insert', 2],
    ['update', 2.2],
  ] as const) {
    const value = median(times.captured.map((sample) => sample[verb]));
    const limit = median(times.plain.map((sample) => sample[verb]));
    results.push({
      name: `${verb} of ${short(bulkRows)} rows`,
      value,
      unit: 'ms',
      limit,
      limitName,
      ratio: value / limit,
      goals: [ratioAtMost(bound)],
    });
  }
  return results;
}

/** Adds rows of about 200 bytes. */
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
