import { beforeAll, describe, expect, it } from 'vitest';
import { openPool } from '../../src/db/pg.js';
import { analyze } from '../../src/view/analyze.js';
import { createEmptyDatabase } from '../database.js';
import { type OracleResult, runOracle } from './oracle.js';
import { describeDifference } from './report.js';
import { schemaSql } from './schema.js';
import { viewSpecs } from './views.js';

const seed = 20260;
const transactions = 2600;

describe(`${transactions} random transactions, seed ${seed}`, () => {
  let result: OracleResult;

  beforeAll(async () => {
    result = await runOracle({ seed, transactions, cluster: process.env.TIDEMARK_TEST_CLUSTER! });
    const { workload, report, seconds } = result;
    console.info(`oracle: ${JSON.stringify({ seed, seconds, ...workload, ...report.counts })}`);
  }, 120_000);

  it('show every client what was there at its snapshot', () => {
    const { differences, differenceCount } = result.report;
    expect(differences.map(describeDifference), `${differenceCount} differences, seed ${seed}`).toEqual([]);
  });

  it('have come in every way', () => {
    const { workload, report } = result;
    expect(workload.committed).toBeGreaterThan(transactions / 2);
    for (const [what, count] of Object.entries({ ...workload, ...report.counts })) {
      expect(count, what).toBeGreaterThan(0);
    }
    expect(report.counts.deltas).toBeGreaterThan(50);
  });
});

it('covers views of both strategies', async () => {
  const database = await createEmptyDatabase();
  const db = openPool(database.url);
  await database.pool.query(schemaSql);
  for (const { name, text, key, strategy } of viewSpecs) {
    expect((await analyze(db, text, key)).strategy, name).toBe(strategy);
  }
  await db.close();
  await database.drop();
});
