import type { PoolClient } from 'pg';
import type { UserContext } from '../context.js';
import type { Database, Edges } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import type { MapError } from '../errors.js';
import type { Caller } from '../http/identify.js';
import { describeError } from '../log.js';
import type { Mutation } from '../protocol/push.js';
import type { PreparedCall } from '../registry/prepare.js';
import type { AuditLog } from '../store/audit-log.js';
import { type ClaimRow, claimMutation, type MutationRef } from '../store/client-groups.js';
import { recordRefusal } from '../store/refusals.js';
import { appliedEntry, failedEntry } from './audit-log-entries.js';
import { callFailureOf } from './call-failures.js';
import { type CallTransaction, callsOn } from './call-transactions.js';
import { type Claim, mutate } from './mutate.js';
import { notifyRefused, type OnRefused, refusalOf } from './refused-mutations.js';

/** The options that mutations are applied with. */
export interface ApplyOptions<Tx, Context extends UserContext> {
  readonly db: Database;
  /** Maps the transaction's client to the `tx` that mutators receive. */
  readonly tx: (client: PoolClient) => Tx;
  /** Finds a mutation's mutator and validates its args, once for all transactions that the mutation runs in. */
  readonly prepare: (mutation: Mutation) => Promise<PreparedCall<Tx, Context>>;
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

/**
 * Applies a mutation in its own transaction, if it is its client's next one; otherwise returns false. Skips a mutation
 * that fails permanently, so that it does not block later ones, and records the reason for its author.
 * @throws every transient failure
 */
export async function applyOnce<Tx, Context extends UserContext>(
  { db, tx, prepare, auditLog, mapError, profileID, schemaVersion, onRefused }: ApplyOptions<Tx, Context>,
  mutation: Mutation,
  ref: MutationRef,
  { context, requestID, log }: Caller<Context>,
): Promise<boolean> {
  const claim: Claim<'not waiting'> = {
    statements: [claimMutation(ref, context.userID)],
    take: ([rows]) => ((rows as readonly [ClaimRow])[0].claimed ? undefined : 'not waiting'),
  };
  const calls = callsOn(db, tx);
  const transact: typeof calls = (work, first) => calls(work, first, requestID);
  const origin = { userID: context.userID, requestID, client: ref };

  const result = await prepare(mutation).then(
    ({ mutator, args }) => {
      const run = async ({ tx, last }: CallTransaction<Tx> & Edges) => {
        await mutator.run({ tx, args, ctx: context, profileID, schemaVersion });
        last(...auditLog.record(origin, [appliedEntry(mutation.name, mutation.id)]));
      };
      return mutate(transact, run, claim);
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
    last(...auditLog.record(origin, [entry]), recordRefusal({ userID: context.userID, profileID, ...ref }, refusal));
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
