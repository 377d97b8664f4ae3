import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PoolClient } from 'pg';

/** What mutators get: Drizzle, in their transaction. */
export const tx = (client: PoolClient): NodePgDatabase => drizzle(client);
