import { PrismaPg } from '@prisma/adapter-pg';
import { Pool, type PoolClient } from 'pg';
import { PrismaClient } from './generated/client.js';

/** What mutators get: Prisma, in their transaction. */
export function tx({ query, connect }: PoolClient): PrismaClient {
  // Prisma's adapter wants a pool. The mutator's client is its only connection.
  const pool = Object.assign(new Pool(), { query, connect });
  // Tidemark ends what takes too long.
  return new PrismaClient({ adapter: new PrismaPg(pool), transactionOptions: { timeout: 60_000 } });
}
