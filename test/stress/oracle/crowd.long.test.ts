/** Hundreds of colleagues who pull at once, each of whose answers is judged by what they may see. */
import { expect, it } from 'vitest';
import { runOracle } from './oracle.js';
import { describeDifference } from './report.js';
import { viewSpecs } from './views.js';

const views = viewSpecs.filter(({ name }) => ['lists', 'todos', 'shares', 'totals', 'counters'].includes(name));

it('300 users at once each hold what is theirs at their snapshot', async () => {
  const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
  // After each quiet moment, all have the same base.
  const size = { transactions: 700, crowd: 300, quietMoments: 8 };
  const { report, seconds } = await runOracle({ seed: 81, cluster, views, ...size });
  const { counts, differences, sentAway } = report;
  console.info(`crowd: ${JSON.stringify({ seconds, sentAway, ...counts })}`);
  expect(differences.map(describeDifference)).toEqual([]);
  expect(counts.sharedDeltas).toBeGreaterThan(300);
  expect(counts.pulls).toBeGreaterThan(1000);
}, 300_000);
