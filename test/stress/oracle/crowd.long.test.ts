/** Hundreds of colleagues pull at the same time, and the judge compares each response with what they can see. */
import { expect, it } from 'vitest';
import { runOracle } from './oracle.js';
import { describeDifference } from './report.js';
import { viewSpecs } from './views.js';

const views = viewSpecs.filter(({ name }) => ['lists', 'todos', 'shares', 'totals', 'counters'].includes(name));

it('300 simultaneous users each hold their own rows at their snapshots', async () => {
  const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
  // After each quiet time, all have the same base.
  const size = { transactions: 350, crowd: 300, quietChecks: 8 };
  const { report, seconds } = await runOracle({ seed: 81, cluster, views, ...size });
  const { counts, differences, deferrals } = report;
  console.info(`crowd: ${JSON.stringify({ seconds, deferrals, ...counts })}`);
  expect(differences.map(describeDifference)).toEqual([]);
  expect(counts.sharedDeltas).toBeGreaterThan(300);
  expect(counts.pulls).toBeGreaterThan(1000);
}, 300_000);
