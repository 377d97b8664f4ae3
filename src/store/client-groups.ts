import type { ClientBase } from 'pg';
import type { Database } from '../db/database.js';

/**
 * The ID in the change log, where tables have theirs, under which a trigger says that a client group's mutation was
 * applied.
 */
export const mutationsID = 0;

/** A client, as far as pushes have recorded it. */
export interface ClientRecord {
  readonly clientGroupID: string;
  readonly lastMutationID: number;
}

/** Names one mutation of one client. */
export interface MutationRef {
  readonly clientGroupID: string;
  readonly clientID: string;
  readonly mutationID: number;
}

/** What is on record when a push arrives. */
export interface GroupRecord {
  /** The user that the client group belongs to; null when it is not known. */
  readonly owner: string | null;
  /** Those of the clients asked for that are known, by their IDs, whatever group they are in. */
  readonly clients: Map<string, ClientRecord>;
}

/** Reads a client group's owner and the records of some clients, in one snapshot. */
export async function readGroup(
  db: Database,
  clientGroupID: string,
  clientIDs: readonly string[],
): Promise<GroupRecord> {
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

/** Records a client group as a user's, unless somebody was quicker, and returns whose it is. */
export async function registerGroup(db: Database, clientGroupID: string, userID: string): Promise<string | null> {
  await db.query({
    text: 'insert into tidemark.client_group (id, user_id) values ($1, $2) on conflict (id) do nothing',
    values: [clientGroupID, userID],
  });
  return (await readGroup(db, clientGroupID, [])).owner;
}

/**
 * Claims a mutation for the transaction that `client` is in: the client's row says from then on that it is applied, and
 * stays locked until the commit. Returns false when the row does not wait for this mutation.
 */
export async function claimMutation(client: ClientBase, mutation: MutationRef): Promise<boolean> {
  const { clientID, clientGroupID, mutationID } = mutation;
  const { rowCount } =
    mutationID === 1
      ? // That a concurrent push has inserted the row is a serialization failure here, never a unique violation.
        await client.query(
          `insert into tidemark.client (id, client_group_id, last_mutation_id, xid)
           values ($1, $2, 1, pg_current_xact_id())
           on conflict (id) do nothing`,
          [clientID, clientGroupID],
        )
      : await client.query(
          `update tidemark.client
           set last_mutation_id = $3, xid = pg_current_xact_id()
           where id = $1 and client_group_id = $2 and last_mutation_id = $3::bigint - 1`,
          [clientID, clientGroupID, mutationID],
        );
  return rowCount === 1;
}

/** The record of one client as the transaction that `client` is in sees it, or undefined when it is not known. */
export async function readClient(client: ClientBase, clientID: string): Promise<ClientRecord | undefined> {
  const { rows } = await client.query<{ client_group_id: string; last_mutation_id: number }>(
    'select client_group_id, last_mutation_id::float8 as last_mutation_id from tidemark.client where id = $1',
    [clientID],
  );
  return rows[0] && { clientGroupID: rows[0].client_group_id, lastMutationID: rows[0].last_mutation_id };
}
