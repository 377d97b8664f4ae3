/** The answers to calls with an Idempotency-Key, each kept by the call's own transaction. */
import type { Statement } from '../db/database.js';

/** Runs a statement in an open transaction, and returns its rows. */
export type Query = (text: string, values: readonly unknown[]) => Promise<Iterable<unknown>>;

/** Identifies an idempotency key of one user. */
export interface KeyRef {
  readonly userID: string;
  readonly key: string;
}

/** What is kept under an idempotency key. */
export interface KeptAnswer {
  /** Identifies what was called, and with which args. */
  readonly fingerprint: string;
  readonly answer: string;
}

const lockSql = `select pg_try_advisory_xact_lock(hashtextextended($2, hashtextextended($1, 7))) as locked`;

const readSql = `
  select fingerprint, answer from tidemark.idempotency_key
  where user_id = $1 and key = $2 and created_at > now() - make_interval(secs => $3::float8)`;

/** If another transaction has kept an answer that this one cannot see, this is a serialization failure. */
const keepSql = `
  insert into tidemark.idempotency_key (user_id, key, fingerprint, answer) values ($1, $2, $3, $4)
  on conflict (user_id, key) do update
  set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at`;

const pruneSql = `
  delete from tidemark.idempotency_key where created_at <= now() - make_interval(secs => $1::float8)`;

/**
 * Locks a key until the end of the transaction. Returns a row whose `locked` is false if another transaction has locked
 * it: that call is still running.
 */
export function lockKey({ userID, key }: KeyRef): Statement {
  return { text: lockSql, values: [userID, key] };
}

/**
 * Reads the answer kept under a key that this transaction has locked, unless it is older than the retention. A
 * statement of its own, so that a transaction that is not REPEATABLE READ sees what was committed before the lock.
 */
export function readAnswer({ userID, key }: KeyRef, retentionSeconds: number): Statement {
  return { text: readSql, values: [userID, key, retentionSeconds] };
}

/** Keeps an answer under a key that this transaction has locked, replacing any that is older than the retention. */
export function keepAnswer({ userID, key }: KeyRef, { fingerprint, answer }: KeptAnswer): Statement {
  return { text: keepSql, values: [userID, key, fingerprint, answer] };
}

/** Deletes the answers that are older than the retention. */
export async function pruneAnswers(query: Query, retentionSeconds: number): Promise<void> {
  await query(pruneSql, [retentionSeconds]);
}
