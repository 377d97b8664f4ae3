import type { UserContext } from '../context.js';
import type { Edges, Statement } from '../db/database.js';
import { isLockTimeout, isRetryable, isTransient } from '../db/sqlstate.js';
import type { Caller } from '../http/identify.js';
import { startDeadline } from '../limits/deadline.js';
import type { Mutation } from '../protocol/push.js';
import type { PreparedCall } from '../registry/prepare.js';
import { type ClaimRow, claimFurther, claimMutation, findDeferred, type MutationRef } from '../store/client-groups.js';
import type { ApplyOptions } from './apply-once.js';
import type { MutatorClient } from './client/mutator-client.js';
import { transactWithMutators } from './client/mutator-transactions.js';
import { appliedEntry } from './entries.js';

/** When a transaction has taken this long, in milliseconds, no other mutation joins it. */
const LONGEST_MS = 25;
/** When it has taken this long, it does not wait for the mutation that is running. */
const PATIENCE_MS = 250;
/** How long the mutator of such a mutation shares no transaction: it may have been the machine that was slow. */
const APART_MS = 60_000;

/** A mutation that waits for a lock lets nobody wait for the locks of those before it. */
const limitWaits: Statement = { text: `set local lock_timeout = ${PATIENCE_MS}` };

/** What became of several mutations in one transaction. */
export type TogetherResult =
  /** So many of them, from the first on, are applied; none if the client was not waiting for the first. */
  { readonly status: 'applied'; readonly count: number } | Failure;

/** Nothing is applied. */
interface Failure {
  readonly status: 'failed';
  /** The place of the mutation that failed; undefined if others may be the reason. */
  readonly place: number | undefined;
  /** Fulfilled when no mutator runs any more. */
  readonly settled: Promise<unknown>;
}

/** A mutation failed. Without a cause: the transaction is not to be tried again as it was. */
class TogetherError extends Error {
  override readonly name = 'TogetherError';
}

/** A mutation takes too long for the others. */
class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * Applies a run of a client's mutations, at least two, in one transaction, or as many of them as can be. The first one
 * may do to the transaction whatever it likes; if it does, no other joins it. Those that join may only read and write
 * rows. If anything fails, nothing is applied, and that says nothing about the mutations: they are to be applied in
 * shorter runs, in the end one by one.
 *
 * @param ref identifies the first mutation
 * @param apart receives the names of mutators that should share no transaction
 * @throws every failure before the first mutation, and a transient one of the first mutation, or after the last
 */
export async function applyTogether<Tx, Context extends UserContext>(
  { db, tx, prepare, journal, profileID, schemaVersion }: ApplyOptions<Tx, Context>,
  run: readonly Mutation[],
  ref: MutationRef,
  { context, requestID }: Caller<Context>,
  apart: Set<string>,
): Promise<TogetherResult> {
  const calls = await prepareQuickly(prepare, run);
  if (calls.length === 0) return { status: 'failed', place: 0, settled: Promise.resolve() };
  let hasBegun = false;
  let failure: Failure | undefined;

  const work = async (shared: MutatorClient, { first: [claims, deferred], last }: Edges): Promise<number> => {
    if (!(claims as readonly [ClaimRow])[0].claimed) return 0;
    hasBegun = true;
    const started = performance.now();
    const limit = startDeadline(PATIENCE_MS, () => new LateError('The mutation took too long'));
    const apply = async ({ mutator, args }: PreparedCall<Tx, Context>): Promise<void> => {
      await mutator.run({ tx: tx(shared.client), args, ctx: context, profileID, schemaVersion });
      shared.check();
      if (!shared.isSound) throw new Error('The transaction failed, or was ended');
    };
    const canGoOn = () => shared.isPlain && deferred!.length === 0 && performance.now() - started < LONGEST_MS;
    let count = 0;
    try {
      do {
        const mutation = run[count]!;
        const joins = count > 0;
        if (joins) shared.restrict();
        const applied = apply(calls[count]!);
        await (joins ? limit.within(applied) : applied).catch((error: unknown) => {
          if (joins && (!shared.isPlain || error instanceof LateError)) apart.add(mutation.name);
          if (error instanceof LateError) setTimeout(() => apart.delete(mutation.name), APART_MS).unref();
          // Alone, the first would have failed in the same way, unless it only had to wait.
          const isForNow = !joins && isTransient(error) && !isLockTimeout(error);
          if (isRetryable(error) || isForNow) throw error;
          const place = isTransient(error) ? undefined : count;
          failure = { status: 'failed', place, settled: applied.catch(() => {}) };
          throw new TogetherError();
        });
        count++;
      } while (count < calls.length && canGoOn());
    } finally {
      shared.close();
      limit.end();
    }
    if (!shared.isPlain) apart.add(run[0]!.name);
    if (count > 1) {
      const { text, values = [] } = claimFurther(ref, run[count - 1]!.id);
      const { rowCount } = await shared.own.query(text, [...values]);
      if (rowCount !== 1) throw new Error('The claim was lost');
    }
    const applied = run.slice(0, count).map(({ name, id }) => appliedEntry(name, id));
    last(...journal.keep({ userID: context.userID, requestID, client: ref }, applied));
    return count;
  };

  try {
    const first = [claimMutation(ref, context.userID), findDeferred, limitWaits];
    return { status: 'applied', count: await transactWithMutators(db, work, first, requestID) };
  } catch (error) {
    const isLost = failure?.place === 0 && isTransient(error);
    if (failure !== undefined && !isLost) return failure;
    if (!hasBegun || (isTransient(error) && !isRetryable(error))) throw error;
    return { status: 'failed', place: undefined, settled: Promise.resolve() };
  }
}

/**
 * Validates the first mutations of a run: no transaction waits for a validator. Stops at one that is not valid, and
 * after a moment. Returns none if the first one is not valid.
 */
async function prepareQuickly<Tx, Context extends UserContext>(
  prepare: ApplyOptions<Tx, Context>['prepare'],
  run: readonly Mutation[],
): Promise<PreparedCall<Tx, Context>[]> {
  const calls: PreparedCall<Tx, Context>[] = [];
  const started = performance.now();
  const limit = startDeadline(LONGEST_MS, () => new LateError('The validator took too long'));
  for (const mutation of run) {
    const prepared = prepare(mutation);
    const call = await (calls.length > 0 ? limit.within(prepared) : prepared).catch(() => undefined);
    if (call === undefined) break;
    calls.push(call);
    if (performance.now() - started >= LONGEST_MS) break;
  }
  limit.end();
  return calls;
}
