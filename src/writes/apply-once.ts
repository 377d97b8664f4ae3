import type { PoolClient } from 'pg';
import type { UserContext } from '../context.js';
import type { Database, Edges } from '../db/database.js';
import { isTransient } from '../db/sqlstate.js';
import type { MapError } from '../errors.js';
import type { Caller } from '../http/identify.js';
import { describeError } from '../log.js';
import type { Mutation } from '../protocol/push.js';
import type { PreparedCall } from '../registry/prepare.js';
import { type ClaimRow, claimMutation, type MutationRef } from '../store/client-groups.js';
import type { Journal } from '../store/journal.js';
import { keepRefusal } from '../store/refusals.js';
import { callFailureOf } from './call-failures.js';
import { type CallTransaction, callsOn } from './call-transactions.js';
import { appliedEntry, failedEntry } from './entries.js';
import { type Claim, mutate } from './mutate.js';
import { type OnRefused, refusalOf, tellRefused } from './refused-mutations.js';

/** What mutations run with. */
export interface ApplyOptions<Tx, Context extends UserContext> {
  readonly db: Database;
  /** Maps the transaction's client to the `tx` that mutators receive. */
  readonly tx: (client: PoolClient) => Tx;
  /** Finds a mutation's mutator and validates its args, once for however many transactions. */
  readonly prepare: (mutation: Mutation) => Promise<PreparedCall<Tx, Context>>;
  readonly journal: Journal;
  /** The browser profile that has sent them. */
  readonly profileID: string;
  /** The schema version that their client was built for. */
  readonly schemaVersion: string;
  /** Told of each mutation that is skipped. */
  readonly onRefused?: OnRefused<Context> | undefined;
  /** Says what the application's own errors mean. Default: none. */
  readonly mapError?: MapError | undefined;
}

/**
 * Applies a mutation in a transaction of its own, if it is its client's next one. Skips a mutation that fails
 * permanently, so that later ones are not held up, and records why for its author. Returns whether the client was
 * waiting for this mutation.
 * @throws every transient failure
 */
export async function applyOnce<Tx, Context extends UserContext>(
  { db, tx, prepare, journal, mapError, profileID, schemaVersion, onRefused }: ApplyOptions<Tx, Context>,
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
        last(...journal.keep(origin, [appliedEntry(mutation.name, mutation.id)]));
      };
      return mutate(transact, run, claim);
    },
    (error: unknown) => {
      // A validator may query the database too.
      if (isTransient(error)) throw error;
      return { status: 'failed', error } as const;
    },
  );
  if (result.status !== 'failed') return result.status === 'applied';

  // Commits the claim without the mutator's writes. It fails if the mutation has been applied meanwhile.
  const { error } = result;
  const failure = callFailureOf(error, mapError);
  const refusal = refusalOf(mutation.name, failure);
  const entry = failedEntry(mutation.name, failure.code, mutation.id);
  const claimed = await db.transact(async (_, { first, last }) => {
    if (claim.take(first) !== undefined) return false;
    last(...journal.keep(origin, [entry]), keepRefusal({ userID: context.userID, profileID, ...ref }, refusal));
    return true;
  }, claim.statements);
  if (!claimed) return false;
  const fields = { mutator: mutation.name, ...ref, error: describeError(error) };
  if (failure.isRefusal) log.info(fields, 'Skipped a mutation that its mutator refused');
  else log.error(fields, 'Skipped a mutation that failed permanently');
  const { name, code } = refusal;
  tellRefused(onRefused, { context, ...ref, name, code, error, requestID }, log);
  return true;
}
