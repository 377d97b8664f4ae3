import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';
import { expectTypeOf, it } from 'vitest';
import type { UserContext } from '../context.js';
import type { PushOptions } from '../writes/push.js';

it('a query builder accepts the client of the transaction', () => {
  const tx = (client: PoolClient) => drizzle(client);
  expectTypeOf(tx).toExtend<PushOptions<NodePgDatabase, UserContext>['tx']>();
});
