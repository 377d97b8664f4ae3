/** Generated cases in which every second server reads from a hot standby that is behind a long transaction. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Replication, startReplication } from '../../support/replication.js';
import { postgresVersion } from './database.js';
import { oneStandby } from './follower.js';
import { fuzz } from './fuzz.js';

let replication: Replication;

beforeAll(async () => {
  replication = await startReplication(oneStandby);
}, 200_000);

afterAll(() => replication.stop());

it('clients of a primary and a standby hold what each database shows', async () => {
  const cluster = replication.primaryURL;
  let left = 4;
  const { tally, found } = await fuzz({
    seed: 1,
    cluster,
    replication,
    version: await postgresVersion(cluster),
    views: 6,
    shrinkMs: 0,
    goesOn: ({ found }) => found.length === 0 && left-- > 0,
  });
  expect(found.map(({ seed, text }) => `seed ${seed}\n${text}`)).toEqual([]);
  // Ensures that the run is significant.
  expect(tally.changed).toBeGreaterThan(10);
  expect(tally.pulls.delta).toBeGreaterThan(15);
}, 600_000);
