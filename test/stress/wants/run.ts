/**
 * Clients that want other instances of views with each pull, compared with new queries.
 *
 *   npm run stress -- wants --minutes 60
 *   npm run stress -- wants --seed 7 --pulls 400     one run
 *   npm run stress -- wants --standby                every second server reads from a standby
 */
import { parseArgs } from 'node:util';
import { createEmptyDatabase } from '../../support/database.js';
import { startServers } from '../../support/replication.js';
import { laggingStandby, standbyOf } from './standby.js';
import { runWants } from './wants.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    pulls: { type: 'string', default: '400' },
    standby: { type: 'boolean', default: false },
    postgres: { type: 'string', default: '18' },
  },
});
if (values.postgres === '15') process.env.TIDEMARK_TEST_POSTGRES = 'postgres-15';
const servers = await startServers(values.standby ? laggingStandby : undefined);
process.env.TIDEMARK_TEST_CLUSTER = servers.cluster;
try {
  const until = Date.now() + Number(values.minutes) * 60_000;
  let seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  const total = { runs: 0, pulls: 0, changedWants: 0, stages: 0, behind: 0, resets: 0, differences: 0 };
  do {
    const database = await createEmptyDatabase();
    try {
      const standby = servers.replication && standbyOf(servers.replication, database.url);
      const result = await runWants({ seed, pulls: Number(values.pulls), database, standby });
      for (const difference of result.differences) console.log(`seed ${seed}: ${difference}`);
      total.runs++;
      total.pulls += result.pulls;
      total.changedWants += result.changedWants;
      total.stages += result.stages;
      total.behind += result.behind;
      total.resets += result.resets;
      total.differences += result.differences.length;
    } finally {
      await database.drop();
    }
    seed++;
  } while (values.seed === undefined && Date.now() < until);
  console.log(JSON.stringify(total));
  if (total.differences > 0) process.exitCode = 1;
} finally {
  await servers.stop();
}
