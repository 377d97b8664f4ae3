/** `npm run oracle -- --transactions 50000 --seed 7`: a long run, on a Postgres of its own. */
import { parseArgs } from 'node:util';
import startCluster from '../cluster.js';
import { runOracle } from './oracle.js';
import { describeDifference } from './report.js';

const { values } = parseArgs({
  options: {
    transactions: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'keep-going': { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const transactions = Number(values.transactions);

console.log(`seed ${seed}, ${transactions} transactions`);
const stopCluster = await startCluster();
try {
  const { report, workload, seconds } = await runOracle({
    seed,
    transactions,
    cluster: process.env.TIDEMARK_TEST_CLUSTER!,
    stopAtDifference: !values['keep-going'],
    progress: (message) => console.log(message),
  });
  console.log({ seed, seconds, ...workload, ...report.counts, differences: report.differenceCount });
  for (const difference of report.differences) console.log(describeDifference(difference));
  if (report.differenceCount > 0) process.exitCode = 1;
} finally {
  await stopCluster();
}
