import { expect, it } from 'vitest';
import { openPool } from '../../../packages/tidemark/src/db/pg.js';
import { analyze } from '../../../packages/tidemark/src/view/analyze.js';
import { createEmptyDatabase } from '../../support/database.js';
import { schemaSql } from './schema.js';
import { viewSpecs } from './views.js';

it('each view of the oracle has the strategy that its specification names', async () => {
  const database = await createEmptyDatabase();
  const db = openPool(database.url);
  await database.pool.query(schemaSql);
  for (const { name, text, key, strategy } of viewSpecs) {
    expect((await analyze(db, text, key)).strategy, name).toBe(strategy);
  }
  await db.close();
  await database.drop();
});
