/**
 * Clients that want other instances of views with each pull, the same in each run. `npm run stress -- wants` generates
 * others, for any length of time.
 */
import { expect, it } from 'vitest';
import { createEmptyDatabase } from '../../support/database.js';
import { startServers } from '../../support/replication.js';
import { laggingStandby, standbyOf } from './standby.js';
import { runWants } from './wants.js';

it.each([1, 2])('every client has what it wants, and nothing else: seed %i', async (seed) => {
  const database = await createEmptyDatabase();
  try {
    const { differences, resets, changedWants, stages } = await runWants({ seed, pulls: 200, database });
    expect(differences).toEqual([]);
    expect(resets).toBe(0);
    // Ensures that the run is significant.
    expect(changedWants).toBeGreaterThan(40);
    expect(stages).toBeGreaterThan(3);
  } finally {
    await database.drop();
  }
});

it('every client has what it wants if every second server reads from a standby', { timeout: 300_000 }, async () => {
  const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
  const { replication, stop, ...servers } = await startServers(laggingStandby);
  process.env.TIDEMARK_TEST_CLUSTER = servers.cluster;
  try {
    const database = await createEmptyDatabase();
    const standby = standbyOf(replication!, database.url);
    // A standby whose cookies do not list what it has seen of the tables of new views fails with this seed.
    const { differences, resets } = await runWants({ seed: 2022094917, pulls: 300, database, standby });
    expect(differences).toEqual([]);
    expect(resets).toBe(0);
    await database.drop();
  } finally {
    process.env.TIDEMARK_TEST_CLUSTER = cluster;
    await stop();
  }
});
