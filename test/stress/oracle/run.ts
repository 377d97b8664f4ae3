/**
 * `npm run stress -- oracle --transactions 50000 --seed 7`: a long run on its own Postgres. With `--standbys`, it has
 * two standbys. With `--reading`, nodes read from these, which fail during the run. With `--pooler`, some nodes reach
 * each of their databases through a pgbouncer.
 */
import { parseArgs } from 'node:util';
import { startServers } from '../../support/replication.js';
import { laggingStandbys } from './lag.js';
import { runOracle } from './oracle.js';
import { describeDifference } from './report.js';

const { values } = parseArgs({
  options: {
    transactions: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'keep-going': { type: 'boolean', default: false },
    standbys: { type: 'boolean', default: false },
    pooler: { type: 'boolean', default: false },
    reading: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const transactions = Number(values.transactions);

console.log(`seed ${seed}, ${transactions} transactions`);
const replication = { ...laggingStandbys, ...(values.reading && { waitsFor: 'nobody' }) };
const { stop, ...servers } = await startServers(values.standbys || values.reading ? replication : undefined);
try {
  const { report, workload, seconds } = await runOracle({
    seed,
    transactions,
    ...servers,
    isPooled: values.pooler,
    readsFromStandbys: values.reading,
    stopAtDifference: !values['keep-going'],
    progress: (message) => console.log(message),
  });
  const counts = { ...report.counts, ...(servers.replication && report.ofStandbys) };
  console.log({ seed, seconds, ...workload, ...counts, differences: report.differenceCount });
  for (const difference of report.differences) console.log(describeDifference(difference));
  if (report.differenceCount > 0) process.exitCode = 1;
} finally {
  await stop();
}
