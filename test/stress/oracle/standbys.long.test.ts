/** Pulls that alternate between a primary and two standbys that lag, and that are behind long transactions. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Replication, startReplication } from '../../support/replication.js';
import { laggingStandbys } from './lag.js';
import { type OracleOptions, runOracle } from './oracle.js';
import { describeDifference } from './report.js';
import { fewViewSpecs } from './views.js';

const seed = 30_303;
const transactions = 500;

let replication: Replication;
let common: Omit<OracleOptions, 'transactions'>;

beforeAll(async () => {
  replication = await startReplication(laggingStandbys);
  common = { seed, views: fewViewSpecs, cluster: replication.primaryURL, replication };
}, 200_000);

afterAll(() => replication.stop());

it(`${transactions} random transactions leave every client with the rows at its snapshot (seed ${seed})`, async () => {
  const { report, seconds } = await runOracle({ ...common, transactions });
  const { counts, ofStandbys, differences, differenceCount } = report;
  console.info(`oracle with standbys: ${JSON.stringify({ seed, seconds, ...counts, ...ofStandbys })}`);
  expect(differences.map(describeDifference), `${differenceCount} differences, seed ${seed}`).toEqual([]);
  expect(ofStandbys.packed).toBeGreaterThan(10);
  expect(ofStandbys.unchangedOrBehind).toBeGreaterThan(0);
}, 400_000);
