/** The oracle and the generator detect known faults in what the server knows of standbys. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Patch } from '../../support/patch.js';
import { type Replication, startReplication } from '../../support/replication.js';
import { postgresVersion } from '../fuzz/database.js';
import { oneStandby } from '../fuzz/follower.js';
import { fuzz } from '../fuzz/fuzz.js';
import { loadBroken, removeCopies } from '../oracle/broken-copy.js';
import { laggingStandbys } from '../oracle/lag.js';
import { runOracle } from '../oracle/oracle.js';
import { carelessOfLag, xminAlone } from '../oracle/standby-faults.js';
import { fewViewSpecs } from '../oracle/views.js';

let replication: Replication;

afterAll(removeCopies);

/** A run ends at its first difference, so only a run without differences lasts this long. */
const enough = 5000;

const faults: readonly (readonly [name: string, Patch])[] = [
  ['a cookie that covers only transactions below xmin', xminAlone],
  ['a standby that ignores its lag', carelessOfLag],
];

describe('the oracle detects', () => {
  beforeAll(async () => {
    replication = await startReplication(laggingStandbys);
  }, 200_000);
  afterAll(() => replication.stop());

  it.each(faults)(
    '%s',
    async (name, patch) => {
      const code = await loadBroken(name.replaceAll(' ', '-'), [patch]);
      const { report } = await runOracle({
        seed: 30_303,
        views: fewViewSpecs,
        cluster: replication.primaryURL,
        replication,
        code,
        transactions: enough,
        stopAtDifference: true,
      });
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

describe('the generator detects', () => {
  beforeAll(async () => {
    replication = await startReplication(oneStandby);
  }, 200_000);
  afterAll(() => replication.stop());

  it('a cookie that covers only transactions below xmin', async () => {
    const cluster = replication.primaryURL;
    let left = 6;
    const { found } = await fuzz({
      seed: 2,
      kind: 'rows',
      code: await loadBroken('standby-xmin', [xminAlone]),
      cluster,
      replication,
      version: await postgresVersion(cluster),
      views: 6,
      shrinkMs: 0,
      goesOn: ({ found }) => found.length === 0 && left-- > 0,
    });
    expect(found[0]?.difference.kind).toBe('rows');
  }, 600_000);
});
