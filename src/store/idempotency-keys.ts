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

const pruneSql = `
  delete from tidemark.idempotency_key where created_at <= now() - make_interval(secs => $1::float8)`;

/** The row of `claimKey`. */
export interface KeyRow {
  /** False if another transaction has locked the key: that call is still running. */
  readonly locked: boolean;
  /** What is kept under the key; null if there is nothing, or it is older than the retention. */
  readonly fingerprint: string | null;
  readonly answer: string | null;
}

/** Locks a key until the end of the transaction that runs this, and reads the answer kept under it. */
export function claimKey({ userID, key }: KeyRef, retentionSeconds: number): Statement {
  return {
    text: 'select locked, fingerprint, answer from tidemark.claim_key($1, $2, $3)',
    values: [userID, key, retentionSeconds],
  };
}

/** Keeps an answer under a key that this transaction has locked, replacing any that is older than the retention. */
export function keepAnswer({ userID, key }: KeyRef, { fingerprint, answer }: KeptAnswer): Statement {
  return { text: 'select tidemark.keep_answer($1, $2, $3, $4)', values: [userID, key, fingerprint, answer] };
}

/** Deletes the answers that are older than the retention. */
export async function pruneAnswers(query: Query, retentionSeconds: number): Promise<void> {
  await query(pruneSql, [retentionSeconds]);
}
