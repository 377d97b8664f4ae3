/**
 * Measures the server side by side with bare limits, on a Postgres of its own.
 *
 *   npm run bench                      everything, some three minutes
 *   npm run bench -- --quick           a smoke run
 *   npm run bench -- --only push,herd  some scenarios
 *   npm run bench -- --million         with a view of a million rows, too
 */
import { parseArgs } from 'node:util';
import { seed, startDatabase } from './database.js';
import { startProcess } from './processes.js';
import { printTable, writeResults } from './report.js';
import { type Result, type Scenario, short } from './scenario.js';
import { herd, manyRows, oneRow } from './scenarios/changes.js';
import { firstPull } from './scenarios/first-pull.js';
import { noChange } from './scenarios/no-change.js';
import { pokes } from './scenarios/pokes.js';
import { rest } from './scenarios/rest.js';
import { sharing } from './scenarios/sharing.js';
import { capture, push } from './scenarios/writes.js';

/** First pulls come first: the server's peak memory is theirs alone. */
const scenarios: Readonly<Record<string, Scenario>> = {
  'first-pull': firstPull,
  'no-change': noChange,
  'one-row': oneRow,
  'many-rows': manyRows,
  herd,
  sharing,
  push,
  rest,
  capture,
  pokes,
};

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, million: { type: 'boolean' }, only: { type: 'string' } },
});
const names = options.only?.split(',') ?? Object.keys(scenarios);
const unknown = names.filter((name) => !scenarios[name]);
if (unknown.length > 0) {
  console.error(`No scenario is called ${unknown.join(', ')}. There are: ${Object.keys(scenarios).join(', ')}.`);
  process.exit(2);
}
const isQuick = options.quick ?? false;
const sizes = [1000, 10_000, 100_000, ...(options.million ? [1_000_000] : [])];

const started = performance.now();
const progress = (message: string) =>
  console.error(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${message}`);

progress('starting Postgres');
const database = await startDatabase();
const stops = [() => database.stop()];
const stop = async () => {
  for (const stopOne of stops.splice(0)) await stopOne();
};
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop().finally(() => process.exit(130)));
try {
  progress(`filling views of ${sizes.map(short).join(', ')} rows`);
  await seed(database, sizes);
  const server = await startProcess('serve.mjs', database.url);
  stops.unshift(() => server.stop());
  const limits = await startProcess('limits.mjs', database.url);
  stops.unshift(() => limits.stop());
  const { pool } = database;
  const bench = { pool, databaseURL: database.url, server, limits, sizes, isQuick, progress };
  const results: Result[] = [];
  for (const name of names) {
    progress(name);
    results.push(...(await scenarios[name]!(bench)));
  }
  const { rows } = await pool.query<{ version: string }>('select version()');
  const run = { postgres: rows[0]?.version, settings: database.settings, sizes, quick: isQuick };
  progress('done');
  printTable(results);
  console.log(`\nWritten to ${writeResults(results, run)}`);
} finally {
  await stop();
}
