/** Generated cases in which every second server reads from a hot standby that is behind a long transaction. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Replication, startReplication } from '../../support/replication.js';
import { loadBroken, removeCopies } from '../oracle/broken-copy.js';
import { xminAlone } from '../oracle/standby-faults.js';
import { postgresVersion } from './database.js';
import { oneStandby } from './follower.js';
import { type FuzzOptions, fuzz, type Progress } from './fuzz.js';

let replication: Replication;

beforeAll(async () => {
  replication = await startReplication(oneStandby);
}, 200_000);

afterAll(async () => {
  removeCopies();
  await replication.stop();
});

async function run(cases: number, options: Pick<FuzzOptions, 'seed' | 'kind' | 'code'>): Promise<Progress> {
  const cluster = replication.primaryURL;
  let left = cases;
  return fuzz({
    ...options,
    cluster,
    replication,
    version: await postgresVersion(cluster),
    views: 6,
    shrinkMs: 0,
    goesOn: ({ found }) => found.length === 0 && left-- > 0,
  });
}

it('clients of a primary and a standby hold what each database shows', async () => {
  const { tally, found } = await run(4, { seed: 1 });
  expect(found.map(({ seed, text }) => `seed ${seed}\n${text}`)).toEqual([]);
  // Ensures that the run is significant.
  expect(tally.changed).toBeGreaterThan(10);
  expect(tally.pulls.delta).toBeGreaterThan(15);
}, 600_000);

it('the generator detects a cookie that covers only transactions below xmin', async () => {
  const code = await loadBroken('standby-xmin', [xminAlone]);
  const { found } = await run(6, { seed: 2, kind: 'rows', code });
  expect(found[0]?.difference.kind).toBe('rows');
}, 600_000);
