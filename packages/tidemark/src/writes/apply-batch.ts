import type { UserContext } from '../context.js';
import type { Edges, Statement } from '../db/database.js';
import { isLockTimeout, isRetryable, isTransient } from '../db/sqlstate.js';
import type { Caller } from '../http/identify.js';
import { startDeadline } from '../limits/deadline.js';
import type { Mutation } from '../protocol/push.js';
import type { PreparedCall } from '../registry/prepare.js';
import type { PreparedCalls } from '../registry/prepared-calls.js';
import {
  type ClaimRow,
  claimMutation,
  extendClaim,
  findDeferredConstraint,
  type MutationRef,
} from '../store/client-groups.js';
import type { ApplyOptions } from './apply-once.js';
import { appliedEntry } from './audit-log-entries.js';
import type { MutatorClient } from './client/mutator-client.js';
import { transactWithMutators } from './client/mutator-transactions.js';

/** After this many milliseconds, no more mutations join a transaction. */
const maxBatchMs = 25;
/** After this many milliseconds, a transaction is abandoned if a mutation that joined it is still running. */
const mutationTimeoutMs = 250;
/** How long the mutator of such a mutation shares no transaction. Not permanently: the machine may have been slow. */
const separationMs = 60_000;

/** While a mutation waits for a lock, other transactions wait for the locks of the mutations before it. */
const limitWaits: Statement = { text: `set local lock_timeout = ${mutationTimeoutMs}` };

/** The outcome of a batch. */
export type BatchResult =
  /** The first `count` mutations are applied; none if the first one was not its client's next mutation. */
  { readonly status: 'applied'; readonly count: number } | BatchFailure;

/** No mutation of the batch is applied. */
interface BatchFailure {
  readonly status: 'failed';
  /** The index of the mutation that failed; undefined if others may be the cause. */
  readonly index: number | undefined;
  /** Fulfilled when no mutator is still running. */
  readonly finished: Promise<unknown>;
}

/** A mutation failed. This error has no cause, so that the same transaction is not retried. */
class BatchError extends Error {
  override readonly name = 'BatchError';
}

/** A mutator or a validator took too long for a batch. */
class MutationTimeoutError extends Error {
  override readonly name = 'MutationTimeoutError';
}

/**
 * Applies a batch of at least two mutations of one client in one transaction, or as many of them as possible. The first
 * one may run any statement; after one that does more than read and write rows, no other mutation joins. Those that
 * join may only read and write rows. If anything fails, nothing is applied. Such a failure does not mean that a
 * mutation is invalid: the caller retries them in smaller batches, down to single mutations.
 *
 * @param ref identifies the first mutation
 * @param separateMutators receives the names of mutators that should share no transaction
 * @throws every failure before the first mutation, and transient failures of the first mutation or after the last one
 */
export async function applyBatch<Tx, Context extends UserContext>(
  { db, tx, preparedCalls, auditLog, profileID, schemaVersion }: ApplyOptions<Tx, Context>,
  batch: readonly Mutation[],
  ref: MutationRef,
  { context, requestID }: Caller<Context>,
  separateMutators: Set<string>,
): Promise<BatchResult> {
  const calls = await prepareInTime(preparedCalls, batch);
  if (calls.length === 0) return { status: 'failed', index: 0, finished: Promise.resolve() };
  let hasBegun = false;
  let failure: BatchFailure | undefined;

  const work = async (mutatorClient: MutatorClient, { first: [claims, deferred], last }: Edges): Promise<number> => {
    if (!(claims as readonly [ClaimRow])[0].claimed) return 0;
    hasBegun = true;
    const started = performance.now();
    const deadline = startDeadline(mutationTimeoutMs, () => new MutationTimeoutError('The mutation took too long'));
    const apply = async ({ mutator, args }: PreparedCall<Tx, Context>): Promise<void> => {
      await mutator.run({ tx: tx(mutatorClient.client), args, ctx: context, profileID, schemaVersion });
      mutatorClient.check();
      if (!mutatorClient.isSound) throw new Error('The transaction failed, or was ended');
    };
    const canGoOn = () => mutatorClient.isPlain && deferred!.length === 0 && performance.now() - started < maxBatchMs;
    let count = 0;
    try {
      do {
        const mutation = batch[count]!;
        const joins = count > 0;
        if (joins) mutatorClient.restrict();
        const applied = apply(calls[count]!);
        await (joins ? deadline.within(applied) : applied).catch((error: unknown) => {
          if (joins && (!mutatorClient.isPlain || error instanceof MutationTimeoutError)) {
            separateMutators.add(mutation.name);
          }
          if (error instanceof MutationTimeoutError) {
            setTimeout(() => separateMutators.delete(mutation.name), separationMs).unref();
          }
          // In its own transaction, the first one would fail in the same way, unless it only had to wait for a lock.
          const isTemporary = !joins && isTransient(error) && !isLockTimeout(error);
          if (isRetryable(error) || isTemporary) throw error;
          const index = isTransient(error) ? undefined : count;
          failure = { status: 'failed', index, finished: applied.catch(() => {}) };
          throw new BatchError();
        });
        count++;
      } while (count < calls.length && canGoOn());
    } finally {
      mutatorClient.close();
      deadline.end();
    }
    if (!mutatorClient.isPlain) separateMutators.add(batch[0]!.name);
    if (count > 1) {
      const { text, values = [] } = extendClaim(ref, batch[count - 1]!.id);
      const { rowCount } = await mutatorClient.connection.query(text, [...values]);
      if (rowCount !== 1) throw new Error('The claim was lost');
    }
    const applied = batch.slice(0, count).map(({ name, id }) => appliedEntry(name, id));
    last.push(...auditLog.record({ userID: context.userID, requestID, client: ref }, applied));
    return count;
  };

  try {
    const first = [claimMutation(ref, context.userID), findDeferredConstraint, limitWaits];
    return { status: 'applied', count: await transactWithMutators(db, work, first, requestID) };
  } catch (error) {
    const isLost = failure?.index === 0 && isTransient(error);
    if (failure !== undefined && !isLost) return failure;
    if (!hasBegun || (isTransient(error) && !isRetryable(error))) throw error;
    return { status: 'failed', index: undefined, finished: Promise.resolve() };
  }
}

/**
 * Validates the first mutations of a batch, so that no transaction waits for a validator. Stops at an invalid mutation,
 * and after `maxBatchMs`. Returns an empty list if the first mutation is invalid.
 */
async function prepareInTime<Tx, Context extends UserContext>(
  preparedCalls: PreparedCalls<Tx, Context>,
  batch: readonly Mutation[],
): Promise<PreparedCall<Tx, Context>[]> {
  const calls: PreparedCall<Tx, Context>[] = [];
  const started = performance.now();
  const deadline = startDeadline(maxBatchMs, () => new MutationTimeoutError('The validator took too long'));
  for (const mutation of batch) {
    const prepared = preparedCalls.get(mutation);
    const call = await (calls.length > 0 ? deadline.within(prepared) : prepared).catch(() => undefined);
    if (call === undefined) break;
    calls.push(call);
    if (performance.now() - started >= maxBatchMs) break;
  }
  deadline.end();
  return calls;
}
