import { CamelCasePlugin, Kysely, PostgresDialect } from 'kysely';
import type { PoolClient } from 'pg';
import type { Tables } from './schema.js';

/** What mutators get: Kysely, in their transaction. */
export function tx(client: PoolClient): Kysely<Tables> {
  // Kysely wants a pool. The mutator's client is its only connection.
  const pool = { connect: async () => client, end: async () => {} };
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] });
}
