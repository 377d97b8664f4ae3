/** Mutations that were refused, as their clients are told: rows of a view, kept for a time. */
import type { UserContext } from '../context.js';
import type { Database, Statement } from '../db/database.js';
import { type ProblemCode, SetupError } from '../errors.js';
import type { Views } from '../view/define.js';

/** The table of refusals. It is captured like those that an application's views read. */
export const refusalTable = 'tidemark.refusal';

/** Which mutation was refused, and whose it was. */
export interface RefusalRef {
  readonly userID: string;
  /** Of the browser profile. */
  readonly profileID: string;
  readonly clientID: string;
  readonly mutationID: number;
}

/** What a client is told about a mutation that was refused. */
export interface Refusal {
  /** The mutator's name; null if there is no mutator of the name that was called. */
  readonly name: string | null;
  readonly code: ProblemCode;
  /** What the mutator has to say to the user; null if it did not refuse on purpose. */
  readonly detail: string | null;
}

const viewSql = `
  select client_id as "clientID", mutation_id as "mutationID", name, code, detail, at
  from tidemark.refusal where user_id = $1 and profile_id = $2`;

/** The view of a user's refusals in one profile, for the clients that ask for it. */
export const refusedViews: Views<UserContext> = {
  'tidemark/refused': {
    query: ({ ctx, profileID }) => ({ text: viewSql, values: [ctx.userID, profileID] }),
    key: ['clientID', 'mutationID'],
  },
};

/** How many of a user and a profile are kept, and for how long. */
const most = 100;
const retention = '1 day';

const keepSql = `
  with trimmed as (
    delete from tidemark.refusal where ctid = any (array(
      select ctid from tidemark.refusal
      where user_id = $1 and profile_id = $2 and (client_id, mutation_id) <> ($3, $4)
      order by at desc, mutation_id desc offset ${most - 1}
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

const mayKeepSql = `
  select has_table_privilege('tidemark.refusal', 'insert') and has_table_privilege('tidemark.refusal', 'update')
    and has_table_privilege('tidemark.refusal', 'delete') and has_table_privilege('tidemark.refusal', 'select')
    as "mayKeep"`;

const batch = 10_000;

/**
 * Keeps a refusal, and of the others the newest: for the transaction that skips the mutation. If the client has been
 * forgotten meanwhile, and another one has its ID, the mutation may have been refused before.
 */
export function keepRefusal({ userID, profileID, clientID, mutationID }: RefusalRef, refusal: Refusal): Statement {
  const { name, code, detail } = refusal;
  return { text: keepSql, values: [userID, profileID, clientID, mutationID, name, code, detail] };
}

/** Deletes a refusal, if there is one. */
export function deleteRefusal({ userID, profileID, clientID, mutationID }: RefusalRef): Statement {
  return { text: deleteSql, values: [userID, profileID, clientID, mutationID] };
}

/** @throws SetupError if the connected role may not keep refusals: nothing that is refused could be skipped then. */
export async function checkMayRefuse(db: Pick<Database, 'query'>): Promise<void> {
  const [row] = await db.query<{ mayKeep: boolean }>({ text: mayKeepSql });
  if (row!.mayKeep) return;
  throw new SetupError(
    `Refused mutations cannot be recorded: grant the server's role select, insert, update and delete on ${refusalTable}.`,
  );
}

/** Deletes the refusals that have been kept for long enough. */
export async function pruneRefusals(db: Pick<Database, 'query'>): Promise<void> {
  for (;;) {
    const { length } = await db.query({ text: pruneSql, values: [batch] });
    if (length < batch) return;
  }
}
