import { beforeAll, describe, expect, it } from 'vitest';
import { pgbouncerIsMissing } from '../../support/pgbouncer.js';
import { type OracleResult, runOracle } from './oracle.js';
import { describeDifference } from './report.js';

const seed = 20260;
const transactions = 2600;

describe(`${transactions} random transactions, seed ${seed}`, () => {
  let result: OracleResult;

  beforeAll(async () => {
    const cluster = process.env.TIDEMARK_TEST_CLUSTER!;
    result = await runOracle({ seed, transactions, cluster, isPooled: !pgbouncerIsMissing });
    const { workload, report, seconds } = result;
    console.info(`oracle: ${JSON.stringify({ seed, seconds, ...workload, ...report.counts })}`);
  }, 400_000);

  it('show every client what was there at its snapshot', () => {
    const { differences, differenceCount } = result.report;
    expect(differences.map(describeDifference), `${differenceCount} differences, seed ${seed}`).toEqual([]);
  });

  it('have come in every way', () => {
    const { workload, report } = result;
    expect(workload.committed).toBeGreaterThan(transactions / 2);
    // Which client groups are sampled is left to chance, and whose deltas have the same base; see crowd.long.test.ts.
    const { audits: _, sharedDeltas: __, ...counts } = report.counts;
    for (const [what, count] of Object.entries({ ...workload, ...counts })) {
      expect(count, what).toBeGreaterThan(0);
    }
    expect(report.counts.deltas).toBeGreaterThan(50);
  });
});
