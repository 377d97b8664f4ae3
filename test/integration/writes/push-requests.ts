import type pg from 'pg';
import type { Mutation, PushRequest } from '../../../packages/tidemark/src/protocol/push.js';

export function mutation(id: number, name: string, args: unknown = null, clientID = 'c'): Mutation {
  return { id, name, args, clientID, timestamp: 0.5 };
}

export function pushRequest(clientGroupID: string, mutations: Mutation[]): PushRequest {
  return { clientGroupID, profileID: 'p', schemaVersion: '', mutations };
}

/** The last mutation ID that each client has applied, by client ID. */
export async function lastMutationIDs(pool: pg.Pool): Promise<Record<string, number>> {
  const { rows } = await pool.query('select id, last_mutation_id from tidemark.client');
  return Object.fromEntries(rows.map((row) => [row.id, Number(row.last_mutation_id)]));
}
