/** Pulls that alternate between a primary and two standbys that lag, and that are behind long transactions. */
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

it(`${transactions} random transactions leave every client with the rows at its snapshot (seed ${seed})`, async () => {
  const { report, seconds } = await runOracle({ ...common, transactions });
  const { counts, ofStandbys, differences, differenceCount } = report;
  console.info(`oracle with standbys: ${JSON.stringify({ seed, seconds, ...counts, ...ofStandbys })}`);
  expect(differences.map(describeDifference), `${differenceCount} differences, seed ${seed}`).toEqual([]);
  expect(ofStandbys.packed).toBeGreaterThan(10);
  expect(ofStandbys.unchangedOrBehind).toBeGreaterThan(0);
}, 400_000);

/** A run ends at its first difference, so only a run without differences lasts this long. */
const enough = 5000;

const faults: readonly (readonly [name: string, Patch])[] = [
  ['a cookie that covers only transactions below xmin', xminAlone],
  ['a standby that ignores its lag', carelessOfLag],
];

describe('the oracle detects', () => {
  it.each(faults)(
    '%s',
    async (name, patch) => {
      const code = await loadBroken(name.replaceAll(' ', '-'), [patch]);
      const { report } = await runOracle({ ...common, code, transactions: enough, stopAtDifference: true });
      // The consistency check of the sampled clients may report it first.
      const rules = [
        'view',
        'surplus del',
        'equal put',
        'lastMutationID',
        'mutation',
        'convergence',
        'unchanged',
        'consistency check',
      ];
      expect(rules).toContain(report.differences[0]?.rule);
    },
    400_000,
  );
});
