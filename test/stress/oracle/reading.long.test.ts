/** Pulls from servers that read from standbys, which are killed, stopped, promoted and rebuilt during the run. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Replication, startReplication } from '../../support/replication.js';
import { laggingStandbys } from './lag.js';
import { type OracleOptions, runOracle } from './oracle.js';
import { describeDifference } from './report.js';
import { fewViewSpecs } from './views.js';

const seed = 40_404;
const transactions = 200;

let replication: Replication;
let common: Omit<OracleOptions, 'transactions'>;

beforeAll(async () => {
  replication = await startReplication({ ...laggingStandbys, waitsFor: 'nobody' });
  common = {
    seed,
    views: fewViewSpecs,
    cluster: replication.primaryURL,
    replication,
    readsFromStandbys: true,
    quietChecks: 1,
  };
}, 200_000);

afterAll(async () => {
  await replication.stop();
});

it(`no client loses what it has seen or written in ${transactions} random transactions (seed ${seed})`, async () => {
  const { report, seconds } = await runOracle({ ...common, transactions });
  const { counts, ofStandbys, differences, differenceCount } = report;
  console.info(`oracle reading from standbys: ${JSON.stringify({ seed, seconds, ...counts, ...ofStandbys })}`);
  expect(differences.map(describeDifference), `${differenceCount} differences, seed ${seed}`).toEqual([]);
  expect(ofStandbys.packed).toBeGreaterThan(0);
}, 400_000);
