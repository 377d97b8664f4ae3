import type { Database, Statement } from '../db/database.js';

/** The table ID in the change log under which a trigger records that a client group's mutation was applied. */
export const mutationsID = 0;

/** A client's record, as pushes write it. */
export interface ClientRecord {
  readonly clientGroupID: string;
  readonly lastMutationID: number;
}

/** Identifies one mutation of one client. */
export interface MutationRef {
  readonly clientGroupID: string;
  readonly clientID: string;
  readonly mutationID: number;
}

/** The records that a push needs of its client group. */
export interface PushGroupRecord {
  /** The user to whom the client group belongs; null if the group is unknown. */
  readonly owner: string | null;
  /** The requested clients that exist, by ID, whatever their group. */
  readonly clients: Map<string, ClientRecord>;
}

/** Reads a client group's owner and the records of some clients, in one snapshot. */
export async function readGroup(
  db: Database,
  clientGroupID: string,
  clientIDs: readonly string[],
): Promise<PushGroupRecord> {
  const [row] = await db.query<{ owner: string | null; clients: [string, string, number][] | null }>({
    name: 'tidemark_read_group',
    text: `
      select
        (select user_id from tidemark.client_group where id = $1) as owner,
        (
          select json_agg(json_build_array(id, client_group_id, last_mutation_id))
          from tidemark.client
          where id = any($2::text[])
        ) as clients`,
    values: [clientGroupID, clientIDs],
  });
  const clients = (row?.clients ?? []).map(([id, group, lastMutationID]): [string, ClientRecord] => [
    id,
    { clientGroupID: group, lastMutationID },
  ]);
  return { owner: row?.owner ?? null, clients: new Map(clients) };
}

/** Records that a client group belongs to a user, unless it has an owner already. */
export async function registerGroup(db: Database, clientGroupID: string, userID: string): Promise<void> {
  await db.query({
    text: 'insert into tidemark.client_group (id, user_id) values ($1, $2) on conflict (id) do nothing',
    values: [clientGroupID, userID],
  });
}

/** The row that `claimMutation` yields. */
export interface ClaimRow {
  /** False if the client is not waiting for this mutation, or its client group does not belong to the user. */
  readonly claimed: boolean;
}

/**
 * Claims a mutation for the transaction that runs this. The row of the mutation's client then records the mutation as
 * applied, and stays locked until the commit.
 */
export function claimMutation({ clientGroupID, clientID, mutationID }: MutationRef, userID: string): Statement {
  return {
    text: 'select tidemark.claim_mutation($1, $2, $3, $4) as claimed',
    values: [clientID, clientGroupID, userID, mutationID],
  };
}

/**
 * Also records the mutations up to `lastMutationID` as applied, in the transaction that has claimed the given mutation.
 * Yields no row in any other transaction.
 */
export function extendClaim({ clientID, mutationID }: MutationRef, lastMutationID: number): Statement {
  return {
    text: `
      update tidemark.client set last_mutation_id = $3
      where id = $1 and last_mutation_id = $2 and xid = pg_current_xact_id()
      returning id`,
    values: [clientID, mutationID, lastMutationID],
  };
}

/** Yields a row if the database has a constraint that is checked at the end of a transaction. */
export const findDeferredConstraint: Statement = { text: 'select from pg_constraint where condeferred limit 1' };
