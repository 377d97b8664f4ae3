/**
 * Generated schemas, views and transactions, the same in each run. `npm run stress -- fuzz` generates others, for any
 * length of time.
 */
import { afterAll, expect, it } from 'vitest';
import { removeCopies } from '../oracle/broken-copy.js';
import type { Code } from '../oracle/code.js';
import { postgresVersion } from './database.js';
import { fuzz, type Progress } from './fuzz.js';
import { loadGrouped } from './partition-groups.js';

afterAll(removeCopies);

const cases = 7;
/** The maximum percentage of legal views that may be refused. Only ever lower it. */
const needlessPercent = 1;

async function run(seed: number, cases: number, code?: Code): Promise<Progress> {
  const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
  let left = cases;
  const progress = await fuzz({
    cluster,
    version: await postgresVersion(cluster),
    seed,
    views: 8,
    shrinkMs: 0,
    workers: 2,
    ...(code && { code }),
    goesOn: ({ found }) => found.length === 0 && left-- > 0,
  });
  expect(progress.found.map(({ seed, text }) => `seed ${seed}\n${text}`)).toEqual([]);
  return progress;
}

it('every generated view is served exactly, or refused with a reason', async () => {
  const { tally } = await run(1, cases);
  expect(tally.needlessPercent).toBeLessThanOrEqual(needlessPercent);
  // Ensures that the run is significant.
  expect(tally.views).toBeGreaterThan(30);
  expect(tally.changed).toBeGreaterThan(15);
  expect(tally.pulls.delta).toBeGreaterThan(20);
  expect(tally.shared.cohorts).toBeGreaterThan(10);
  expect(tally.shared.queries).toBeGreaterThan(10);
}, 600_000);

it('generated views are served exactly if partitions are evaluated in groups', async () => {
  const { tally } = await run(101, 4, await loadGrouped());
  expect(tally.pulls.delta).toBeGreaterThan(10);
}, 600_000);
