import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { expectTypeOf, test } from 'vitest';
import type { WritePath } from '../../src/sync/mutate.js';

test('a query builder takes the client of the transaction', () => {
  const tx = (client: PoolClient) => drizzle(client);
  expectTypeOf(tx).toExtend<WritePath<NodePgDatabase>['tx']>();
});
