/**
 * Measures scenarios on Debian's Postgres with its default configuration (`jit = on`) and with `jit = off`, in turns,
 * and compares them line by line.
 *
 *   npm run bench -- jit                    a few scenarios, five turns each
 *   npm run bench -- jit --quick --turns 1  a smoke run
 *   npm run bench -- jit --only push,no-change
 */
import { parseArgs } from 'node:util';
import { type BenchDatabase, seed, startDatabase } from './database.js';
import { ratioAtMost } from './goal.js';
import { startProcess, startServer } from './processes.js';
import { beginRun } from './report/run-record.js';
import { printTable } from './report/table.js';
import { type Result, withDatabase } from './scenario.js';
import { scenarios } from './scenarios/all.js';
import { inTurns, median } from './statistics.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: 'first-pull,no-change,one-row,many-rows,push,pokes' },
    turns: { type: 'string', default: '5' },
  },
});
const names = options.only.split(',');
const unknown = names.filter((name) => !scenarios[name]);
if (unknown.length > 0) {
  console.error(`No scenario is called ${unknown.join(', ')}. There are: ${Object.keys(scenarios).join(', ')}.`);
  process.exit(2);
}
const sizes = options.quick ? [1000] : [1000, 10_000, 100_000];
const maxRatio = 1.2;
const { progress } = beginRun();

/** Runs a scenario in its own database. The setting is the cluster's, because some scenarios create databases. */
function measure({ pool: main, url: databaseURL }: BenchDatabase, name: string, jit: 'on' | 'off'): Promise<Result[]> {
  progress(`${name}, jit = ${jit}`);
  return withDatabase({ pool: main, databaseURL }, 'jit', async ({ pool, url }) => {
    await main.query(`alter system set jit = ${jit}`);
    await main.query('select pg_reload_conf()');
    await seed(pool, sizes);
    const server = await startServer(url, { application: 'todos' });
    const limits = await startProcess('limits.mjs', url);
    try {
      const scale = options.quick ? 'quick' : 'usual';
      const bench = { pool, databaseURL: url, server, limits, sizes, scale, isQuick: options.quick, progress } as const;
      return await scenarios[name]!.run(bench);
    } finally {
      await limits.stop();
      await server.stop();
    }
  });
}

/** Idle transactions are a cost. All other rates are throughputs. */
const isThroughput = ({ name, unit }: Pick<Result, 'name' | 'unit'>) =>
  unit === '/s' && !name.endsWith('idle: transactions');

/** The lines that both have, with the medians of their turns. The ratio of a throughput is inverted. */
function compare(on: readonly Result[][], off: readonly Result[][]): Result[] {
  return on[0]!.map(({ name, unit }) => {
    const medianOf = (turns: readonly Result[][]) =>
      median(turns.flatMap((results) => results.filter((result) => result.name === name).map(({ value }) => value)));
    const [value, limit] = [medianOf(on), medianOf(off)];
    const ratio = isThroughput({ name, unit }) ? limit / value : value / limit;
    return { name, unit, value, limit, limitName: 'jit = off', ratio, goals: [ratioAtMost(maxRatio)] };
  });
}

const database = await startDatabase();
try {
  for (const name of names) {
    const { on, off } = await inTurns(Number(options.turns), {
      on: () => measure(database, name, 'on'),
      off: () => measure(database, name, 'off'),
    });
    printTable(compare(on, off));
  }
} finally {
  await database.stop();
}
