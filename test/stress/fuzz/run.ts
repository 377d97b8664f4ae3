/**
 * `npm run stress -- fuzz --minutes 60 --seed 7 --postgres 15`: a long run on its own Postgres. With `--standby`, every
 * second server reads from a hot standby. With `--groups`, two partitions count as many. With `--instances`, clients of
 * every case want instances of views with arguments; by default, those of some do.
 */
import { parseArgs } from 'node:util';
import { startServers } from '../../support/replication.js';
import { removeCopies } from '../oracle/broken-copy.js';
import { postgresVersion } from './database.js';
import { oneStandby } from './follower.js';
import { fuzz, type Progress } from './fuzz.js';
import { loadGrouped } from './partition-groups.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    cases: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    postgres: { type: 'string', default: '18' },
    workers: { type: 'string', default: '2' },
    'keep-going': { type: 'boolean', default: false },
    standby: { type: 'boolean', default: false },
    groups: { type: 'boolean', default: false },
    instances: { type: 'boolean' },
  },
});
const seed = Number(values.seed);
const maxCases = Number(values.cases);
const end = Date.now() + Number(values.minutes) * 60_000;
if (values.postgres === '15') process.env.TIDEMARK_TEST_POSTGRES = 'postgres-15';

const { stop, ...servers } = await startServers(values.standby ? oneStandby : undefined);
let reportedAt = Date.now();
const report = ({ tally, found }: Progress): void => {
  console.log(`${new Date().toISOString().slice(11, 19)} ${tally.summary()}; ${found.length} differences`);
};
try {
  const progress = await fuzz({
    ...servers,
    version: await postgresVersion(servers.cluster),
    seed,
    workers: Number(values.workers),
    instances: values.instances,
    ...(values.groups && { code: await loadGrouped() }),
    goesOn: ({ tally, found }) =>
      Date.now() < end && tally.cases < maxCases && (values['keep-going'] || found.length === 0),
    onProgress(now) {
      if (Date.now() - reportedAt < 60_000) return;
      reportedAt = Date.now();
      report(now);
    },
    onFound: (found) => console.log(`\nseed ${found.seed}\n${found.text}\n`),
  });
  report(progress);
  const { tally, found } = progress;
  const table = (counts: Map<string, number>) =>
    [...counts]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 25)
      .map(([reason, times]) => `  ${times} ${reason}`)
      .join('\n');
  console.log(`views that cannot be used:\n${table(tally.unusable)}`);
  console.log(`views that ended early:\n${table(tally.ended)}`);
  console.log(`statements that failed (of ${tally.statements}):\n${table(tally.failures)}`);
  console.log(`statements for cohorts that failed:\n${table(tally.shared.failures)}`);
  console.log('refusals:');
  for (const [reason, { count, isNeedless, text }] of [...tally.refusals].sort((a, b) => b[1].count - a[1].count)) {
    console.log(`  ${count} ${reason}${isNeedless ? `\n      ${text.slice(0, 600)}` : ''}`);
  }
  if (found.length > 0) process.exitCode = 1;
} finally {
  await stop();
  removeCopies();
}
