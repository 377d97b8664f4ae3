/**
 * Measures the server side by side with bare limits, on a Postgres of its own.
 *
 *   npm run bench                      everything, about four minutes
 *   npm run bench -- --quick           a smoke run
 *   npm run bench -- --full            with a view of a million rows, and clients that are away for ten minutes
 *   npm run bench -- --only push,herd  some scenarios
 *   npm run bench -- --only workers    one process against several
 *
 * TIDEMARK_TEST_POSTGRES=stock runs it on Debian's Postgres.
 */
import { parseArgs } from 'node:util';
import { seed, startDatabase } from './database.js';
import { explainAll } from './plans.js';
import { startProcess, startServer } from './processes.js';
import { beginRun, packageVersion, type ScenarioRecord, writeRun } from './report/run-record.js';
import { printTable } from './report/table.js';
import { type Scale, short } from './scenario.js';
import { onDemand, scenarios } from './scenarios/all.js';

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean' }, full: { type: 'boolean' }, only: { type: 'string' } },
});
const names = options.only?.split(',') ?? Object.keys(scenarios);
const all = { ...scenarios, ...onDemand };
const unknown = names.filter((name) => !all[name]);
if (unknown.length > 0) {
  console.error(`No scenario is called ${unknown.join(', ')}. There are: ${Object.keys(all).join(', ')}.`);
  process.exit(2);
}
const scale: Scale = options.full ? 'full' : options.quick ? 'quick' : 'usual';
const sizes = [1000, 10_000, 100_000, ...(scale === 'full' ? [1_000_000] : [])];

const { machine, at, secondsSoFar, progress } = beginRun();

progress('starting Postgres');
const database = await startDatabase();
const stops = [() => database.stop()];
const stop = async () => {
  for (const stopOne of stops.splice(0)) await stopOne();
};
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop().finally(() => process.exit(130)));
try {
  const { pool, url: databaseURL, settings } = database;
  progress(`filling views of ${sizes.map(short).join(', ')} rows`);
  await seed(pool, sizes);
  const server = await startServer(databaseURL, { application: 'todos' });
  stops.unshift(() => server.stop());
  const limits = await startProcess('limits.mjs', databaseURL);
  stops.unshift(() => limits.stop());
  const bench = { pool, databaseURL, server, limits, sizes, scale, isQuick: scale === 'quick', progress };
  const records: ScenarioRecord[] = [];
  for (const name of names) {
    progress(name);
    const { about, run } = all[name]!;
    records.push({ name, about, results: await run(bench) });
  }
  // By now, the statistics are those of a database in use.
  const plans = await explainAll(pool, databaseURL, sizes[0]!);
  const { rows } = await pool.query<{ version: string }>(`select split_part(version(), ' on ', 1) as version`);
  progress('done');
  printTable(records.flatMap(({ results }) => results));
  const versions = { node: process.version, tidemark: packageVersion(), postgres: rows[0]!.version };
  const path = writeRun({
    at,
    seconds: secondsSoFar(),
    machine,
    ...versions,
    settings,
    scale,
    scenarios: records,
    plans,
  });
  console.log(`\nWritten to ${path}`);
} finally {
  await stop();
}
