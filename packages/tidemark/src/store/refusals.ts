/** Refused mutations, which clients read as rows of a view for a limited time. */
import type { UserContext } from '../context.js';
import type { Database, Statement } from '../db/database.js';
import { type ProblemCode, SetupError } from '../errors.js';
import type { Views } from '../view/define.js';

/** The table of refusals. Triggers capture its changes, as for the tables that an application's views read. */
export const refusalTable = 'tidemark.refusal';

/** Identifies a refused mutation and its author. */
export interface RefusalRef {
  readonly userID: string;
  /** The ID of the browser profile. */
  readonly profileID: string;
  readonly clientID: string;
  readonly mutationID: number;
}

/** The record of a refused mutation, as clients receive it. */
export interface Refusal {
  /** The mutator's name; null if no mutator has the name that was called. */
  readonly name: string | null;
  readonly code: ProblemCode;
  /** The mutator's message to the user; null if it did not refuse on purpose. */
  readonly detail: string | null;
}

const viewSql = `
  select client_id as "clientID", mutation_id as "mutationID", name, code, detail, at
  from tidemark.refusal where user_id = $1 and profile_id = $2`;

/** The view of a user's refusals in one profile, for clients that request it. */
export const refusedViews: Views<UserContext> = {
  'tidemark/refused': {
    query: ({ ctx, profileID }) => ({ text: viewSql, values: [ctx.userID, profileID] }),
    key: ['clientID', 'mutationID'],
  },
};

/** The maximum number of refusals for each user and profile, and how long they are kept. */
const maxRefusals = 100;
const retention = '1 day';

const upsertSql = `
  with trimmed as (
    delete from tidemark.refusal where ctid = any (array(
      select ctid from tidemark.refusal
      where user_id = $1 and profile_id = $2 and (client_id, mutation_id) <> ($3, $4)
      order by at desc, mutation_id desc offset ${maxRefusals - 1}
    ))
  )
  insert into tidemark.refusal (user_id, profile_id, client_id, mutation_id, name, code, detail)
  values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (user_id, profile_id, client_id, mutation_id) do update
  set name = excluded.name, code = excluded.code, detail = excluded.detail, at = excluded.at`;

const deleteSql = `
  delete from tidemark.refusal where user_id = $1 and profile_id = $2 and client_id = $3 and mutation_id = $4`;

const pruneSql = `
  delete from tidemark.refusal where ctid = any (array(
    select ctid from tidemark.refusal
    where at < to_char((now() - interval '${retention}') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    order by at limit $1
  )) returning 1`;

const mayWriteSql = `
  select has_table_privilege('tidemark.refusal', 'insert') and has_table_privilege('tidemark.refusal', 'update')
    and has_table_privilege('tidemark.refusal', 'delete') and has_table_privilege('tidemark.refusal', 'select')
    as "mayWrite"`;

const batchSize = 10_000;

/**
 * Records a refusal, and deletes all but the newest others, in the transaction that skips the mutation. If the client
 * was forgotten and another one now has its ID, a refusal of the same mutation may exist already.
 */
export function recordRefusal({ userID, profileID, clientID, mutationID }: RefusalRef, refusal: Refusal): Statement {
  const { name, code, detail } = refusal;
  return { text: upsertSql, values: [userID, profileID, clientID, mutationID, name, code, detail] };
}

/** Deletes a refusal, if there is one. */
export function deleteRefusal({ userID, profileID, clientID, mutationID }: RefusalRef): Statement {
  return { text: deleteSql, values: [userID, profileID, clientID, mutationID] };
}

/** @throws SetupError if the connected role cannot record refusals, without which no mutation can be skipped */
export async function checkMayRefuse(db: Pick<Database, 'query'>): Promise<void> {
  const [row] = await db.query<{ mayWrite: boolean }>({ text: mayWriteSql });
  if (row!.mayWrite) return;
  throw new SetupError(
    `Refused mutations cannot be recorded: grant the server's role select, insert, update and delete on ${refusalTable}.`,
  );
}

/** Deletes the refusals that are older than the retention. */
export async function pruneRefusals(db: Pick<Database, 'query'>): Promise<void> {
  for (;;) {
    const { length } = await db.query({ text: pruneSql, values: [batchSize] });
    if (length < batchSize) return;
  }
}
