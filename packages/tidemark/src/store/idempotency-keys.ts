/** The answers to calls with an Idempotency-Key, each stored by the call's own transaction. */
import type { Statement } from '../db/database.js';

/** Runs a statement in an open transaction, and returns its rows. */
export type Query = (text: string, values: readonly unknown[]) => Promise<Iterable<unknown>>;

/** Identifies an idempotency key of one user. */
export interface KeyRef {
  readonly userID: string;
  readonly key: string;
}

/** An answer stored under an idempotency key. */
export interface StoredAnswer {
  /** Identifies what was called, and with which args. */
  readonly fingerprint: string;
  readonly answer: string;
}

const pruneSql = `
  delete from tidemark.idempotency_key where created_at <= now() - make_interval(secs => $1::float8)`;

/** The row that `claimKey` yields. */
export interface KeyRow {
  /** False if another transaction has locked the key: that call is still running. */
  readonly locked: boolean;
  /** The stored answer's fingerprint; null if there is no answer, or it is older than the retention. */
  readonly fingerprint: string | null;
  readonly answer: string | null;
}

/** Locks a key until the end of the transaction that runs this, and reads the answer stored under it. */
export function claimKey({ userID, key }: KeyRef, retentionSeconds: number): Statement {
  return {
    text: 'select locked, fingerprint, answer from tidemark.claim_key($1, $2, $3)',
    values: [userID, key, retentionSeconds],
  };
}

/** Stores an answer under a key that this transaction has locked, and replaces an answer older than the retention. */
export function storeAnswer({ userID, key }: KeyRef, { fingerprint, answer }: StoredAnswer): Statement {
  return { text: 'select tidemark.store_answer($1, $2, $3, $4)', values: [userID, key, fingerprint, answer] };
}

/** Deletes the answers that are older than the retention. */
export async function pruneAnswers(query: Query, retentionSeconds: number): Promise<void> {
  await query(pruneSql, [retentionSeconds]);
}
