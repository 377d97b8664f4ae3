/** Pulls that alternate between a primary and two standbys that are behind it, and behind long transactions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Patch } from '../../support/patch.js';
import { type Replication, startReplication } from '../../support/replication.js';
import { loadBroken, removeCopies } from './broken-copy.js';
import { laggingStandbys } from './lag.js';
import { type OracleOptions, runOracle } from './oracle.js';
import { describeDifference } from './report.js';
import { carelessOfLag, xminAlone } from './standby-faults.js';
import { viewSpecs } from './views.js';

const seed = 30_303;
const views = viewSpecs.filter(({ name }) => ['lists', 'todos', 'counters', 'totals', 'events'].includes(name));
const transactions = 500;

let replication: Replication;
let common: Omit<OracleOptions, 'transactions'>;

beforeAll(async () => {
  replication = await startReplication(laggingStandbys);
  common = { seed, views, cluster: replication.primaryURL, replication };
}, 200_000);

afterAll(async () => {
  removeCopies();
  await replication.stop();
});

it(`${transactions} random transactions, seed ${seed}, show every client what was there at its snapshot`, async () => {
  const { report, seconds } = await runOracle({ ...common, transactions });
  const { counts, ofStandbys, differences, differenceCount } = report;
  console.info(`oracle with standbys: ${JSON.stringify({ seed, seconds, ...counts, ...ofStandbys })}`);
  expect(differences.map(describeDifference), `${differenceCount} differences, seed ${seed}`).toEqual([]);
  expect(ofStandbys.packed).toBeGreaterThan(10);
  expect(ofStandbys.unchangedOrBehind).toBeGreaterThan(0);
}, 400_000);

/** A run ends at its first difference, so only one that finds nothing gets as far as this. */
const enough = 5000;

const faults: readonly (readonly [name: string, Patch])[] = [
  ['a cookie that vouches for what is below xmin alone', xminAlone],
  ['a standby that does not care whether it is behind', carelessOfLag],
];

describe('finds', () => {
  it.each(faults)(
    '%s',
    async (name, patch) => {
      const code = await loadBroken(name.replaceAll(' ', '-'), [patch]);
      const { report } = await runOracle({ ...common, code, transactions: enough, stopAtDifference: true });
      // The audit of the sampled clients may say so before anybody else.
      const rules = [
        'view',
        'surplus del',
        'equal put',
        'lastMutationID',
        'mutation',
        'convergence',
        'unchanged',
        'audit',
      ];
      expect(rules).toContain(report.differences[0]?.rule);
    },
    400_000,
  );
});
