import type { PoolClient } from 'pg';
import type { UserContext } from '../context.js';
import type { Database, Edges, Statement } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import type { MapError } from '../errors.js';
import type { Caller } from '../http/identify.js';
import { describeError } from '../log.js';
import type { Mutation } from '../protocol/push.js';
import type { PreparedCalls } from '../registry/prepared-calls.js';
import type { AuditLog } from '../store/audit-log.js';
import { type ClaimRow, claimMutation, type MutationRef } from '../store/client-groups.js';
import { recordRefusal } from '../store/refusals.js';
import { appliedEntry, failedEntry } from './audit-log-entries.js';
import { callFailureOf } from './calls/call-failures.js';
import { type CallTransaction, OwnTransactions } from './calls/call-transactions.js';
import { type Claim, mutate } from './mutate.js';
import { notifyRefused, type OnRefused, refusalOf } from './refused-mutations.js';

/** The options that mutations are applied with. */
export interface ApplyOptions<Tx, Context extends UserContext> {
  readonly db: Database;
  /** Maps the transaction's client to the `tx` that mutators receive. */
  readonly tx: (client: PoolClient) => Tx;
  readonly preparedCalls: PreparedCalls<Tx, Context>;
  readonly auditLog: AuditLog;
  /** The ID of the browser profile that sent the mutations. */
  readonly profileID: string;
  /** The schema version that the client was built for. */
  readonly schemaVersion: string;
  /** Called for each skipped mutation. */
  readonly onRefused?: OnRefused<Context> | undefined;
  /** Maps the application's own errors to Problems and MutatorErrors. Default: none. */
  readonly mapError?: MapError | undefined;
}

/** Claims a mutation. If it is not its client's next one, it is not waiting to be applied. */
class MutationClaim implements Claim<'not waiting'> {
  readonly statements: readonly Statement[];

  constructor(ref: MutationRef, userID: string) {
    this.statements = [claimMutation(ref, userID)];
  }

  take([rows]: Edges['first']): 'not waiting' | undefined {
    const [{ claimed }] = rows as readonly [ClaimRow];
    return claimed ? undefined : 'not waiting';
  }
}

/**
 * Applies a mutation in its own transaction, if it is its client's next one; otherwise returns false. Skips a mutation
 * that fails permanently, so that it does not block later ones, and records the reason for its author.
 * @throws every transient failure
 */
export async function applyOnce<Tx, Context extends UserContext>(
  { db, tx, preparedCalls, auditLog, mapError, profileID, schemaVersion, onRefused }: ApplyOptions<Tx, Context>,
  mutation: Mutation,
  ref: MutationRef,
  { context, requestID, log }: Caller<Context>,
): Promise<boolean> {
  const claim = new MutationClaim(ref, context.userID);
  const transactions = new OwnTransactions(db, tx);
  const origin = { userID: context.userID, requestID, client: ref };

  const result = await preparedCalls.get(mutation).then(
    ({ mutator, args }) => {
      const run = async ({ tx, last }: CallTransaction<Tx> & Edges) => {
        await mutator.run({ tx, args, ctx: context, profileID, schemaVersion });
        last.push(...auditLog.record(origin, [appliedEntry(mutation.name, mutation.id)]));
      };
      return mutate(transactions, run, requestID, claim);
    },
    (error: unknown) => {
      // A validator can query the database, too.
      if (isTransient(error)) throw error;
      return { status: 'failed', error } as const;
    },
  );
  if (result.status !== 'failed') return result.status === 'applied';

  // Commits the claim without the mutator's writes. The claim fails if another request has since applied the mutation.
  const { error } = result;
  const failure = callFailureOf(error, mapError);
  const refusal = refusalOf(mutation.name, failure);
  const entry = failedEntry(mutation.name, failure.code, mutation.id);
  const claimed = await db.transact(async (_, { first, last }) => {
    if (claim.take(first) !== undefined) return false;
    const author = { userID: context.userID, profileID, ...ref };
    last.push(...auditLog.record(origin, [entry]), recordRefusal(author, refusal));
    return true;
  }, claim.statements);
  if (!claimed) return false;
  const fields = { mutator: mutation.name, ...ref, error: describeError(error) };
  if (failure.isRefusal) log.info(fields, 'Skipped a mutation that its mutator refused');
  else log.error(fields, 'Skipped a mutation that failed permanently');
  const { name, code } = refusal;
  notifyRefused(onRefused, { context, ...ref, name, code, error, requestID }, log);
  return true;
}
