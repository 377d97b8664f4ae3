import { beforeAll, describe, expect, it } from 'vitest';
import { pgbouncerIsMissing } from '../../support/pgbouncer.js';
import { type OracleResult, runOracle } from './oracle.js';
import { describeDifference } from './report.js';

const seed = 20260;
const transactions = 2600;

describe(`${transactions} random transactions (seed ${seed})`, () => {
  let result: OracleResult;

  beforeAll(async () => {
    const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
    result = await runOracle({ seed, transactions, cluster, isPooled: !pgbouncerIsMissing });
    const { workload, report, seconds } = result;
    console.info(`oracle: ${JSON.stringify({ seed, seconds, ...workload, ...report.counts })}`);
  }, 400_000);

  it('leave every client with the rows at its snapshot', () => {
    const { differences, differenceCount } = result.report;
    expect(differences.map(describeDifference), `${differenceCount} differences, seed ${seed}`).toEqual([]);
  });

  it('exercise every kind of request and response', () => {
    const { workload, report } = result;
    expect(workload.committed).toBeGreaterThan(transactions / 2);
    // Chance decides which client groups are sampled, and which deltas have the same base. See crowd.long.test.ts.
    const { consistencyChecks: _, sharedDeltas: __, ...counts } = report.counts;
    for (const [what, count] of Object.entries({ ...workload, ...counts })) {
      expect(count, what).toBeGreaterThan(0);
    }
    expect(report.counts.deltas).toBeGreaterThan(50);
  });
});
