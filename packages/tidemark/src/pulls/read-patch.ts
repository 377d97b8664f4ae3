/** Reads what a plan says: the changes since a base, or everything. */
import type { UserContext } from '../context.js';
import { isOfRowFormats, isOfValue, isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import { describeError } from '../log.js';
import type { ConsistencyCheck } from '../protocol/consistency-check.js';
import { noGroup } from '../protocol/pull.js';
import { type ObservedState, observedStateOf } from '../store/observation.js';
import { fullPatch } from '../store/patches/full-patch.js';
import { fullPatchWithChecksums, type RowLimit } from '../store/patches/patch-sql.js';
import { literalObservation } from '../store/poll.js';
import type { Collaborators } from './collaborators.js';
import { openFullPatch, openFullPatchWithChecksums, type PatchStream } from './patch-stream.js';
import { openWithPermit } from './permits.js';
import { type AnswerPlan, changedTables, covers, type ResetReason } from './plan.js';
import { planAnswer } from './plan-answer.js';
import type { Outdated, PatchResult, PullResult } from './pull-result.js';
import type { Patch, Reader } from './reader.js';
import { groupRequestOf, type PullTarget } from './session.js';

/** A patch that has been read, at least its first part. */
export interface PatchRead {
  readonly kind: 'patch';
  readonly state: ObservedState;
  /** For the new cookie. */
  readonly consistencyCheck: ConsistencyCheck | null;
  /** The first part of the ops or rows. */
  readonly firstChunks: readonly Uint8Array[];
  /** The rest, which must be closed. */
  readonly more?: PatchStream | undefined;
}

/** The statement has observed more than was planned for, or has failed: plan again. */
export interface Replan {
  readonly kind: 'replan';
  readonly plan: AnswerPlan;
  readonly state: ObservedState;
}

function resetFor(reason: ResetReason, state: ObservedState, limit?: RowLimit): Replan {
  return { kind: 'replan', plan: { kind: 'reset', reason, ...(limit && { limit }) }, state };
}

/**
 * Reads the changes since a reader's base.
 * @param planned the state that the plan for this delta is based on
 * @param minRows the least number of rows that the views are assumed to have
 */
export async function readDelta<Context extends UserContext>(
  target: PullTarget<Context>,
  reader: Reader,
  planned: ObservedState,
  minRows: number,
  { reads, sizes, semaphores, schemaCache, consistencyChecker }: Collaborators<Context>,
): Promise<PatchRead | Replan | Outdated> {
  const { viewDifference, consistencyCheck } = reader;
  const changed = changedTables(planned, reader.schemaChanges);
  let patch: Patch | undefined;
  try {
    const size = await sizes.of(reader, changed, minRows);
    if (typeof size === 'object') return resetFor('size', planned, size);
    // After a view set change, the statement reads all rows of the views that differ.
    const isShort = size === 'short' && !viewDifference;
    patch = await reads.delta(reader, changed, isShort ? semaphores.reads : semaphores.longReads);
    const { state, torn, tables, checksums, firstChunks, more } = patch;
    if (torn) return { kind: 'outdated', state };
    const actual = planAnswer(target, state);
    if (!covers(tables, actual)) {
      await more?.close();
      return { kind: 'replan', plan: actual, state };
    }
    const result =
      consistencyCheck && checksums && consistencyChecker.next(consistencyCheck, checksums, state.snapshot);
    if (!result) return { kind: 'patch', state, consistencyCheck: null, firstChunks, more };
    if ('consistencyCheck' in result) return { kind: 'patch', state, ...result, firstChunks, more };
    await more?.close();
    const { schema, views } = target.resolved;
    const at = { since: consistencyCheck.since, snapshot: state.snapshot };
    await consistencyChecker.logDifferences({ ...result, ...at, schema, views, log: reader.caller.log });
    return resetFor('inconsistent', state);
  } catch (error) {
    await patch?.more?.close();
    if (error instanceof Problem || isTransient(error)) throw error;
    if (isOfRowFormats(error)) return resetFor('views', planned);
    // A table may have just been altered.
    if (await schemaCache.haveChanged(reader.schema.tables)) return { kind: 'outdated' };
    // The delta also reads removed views, whose parameters may no longer be valid values of their types.
    if (viewDifference && isOfValue(error)) return resetFor('views', planned);
    reader.caller.log.error({ error: describeError(error) }, 'A delta failed');
    return resetFor('failure', planned);
  }
}

/**
 * Reads all data. A standby that is behind a readable cookie does not answer.
 * @param limit undefined for any number of rows
 * @returns undefined if there are more rows
 */
export async function readEverything<Context extends UserContext>(
  target: PullTarget<Context>,
  limit: RowLimit | undefined,
  { db, reads, semaphores, consistencyChecker }: Collaborators<Context>,
): Promise<PatchRead | Exclude<PullResult, PatchResult> | Outdated | undefined> {
  const { session, resolved, requirement } = target;
  const { schema, views } = resolved;
  if (requirement && !(await reads.satisfies(requirement))) return { kind: 'behind', isUncertain: false };
  const groupRequest = groupRequestOf(session, undefined);
  const { clientGroupID } = groupRequest;
  const input = { base: undefined, tables: schema.tableIDs, groupIDs: [clientGroupID] };
  const observationSql = literalObservation(input, schema.tables);
  const signal = session.caller.request?.signal;
  const isSampled = clientGroupID !== noGroup && consistencyChecker.samples(clientGroupID, schema.secrets[0]);
  const stream = await openWithPermit(semaphores.longReads, session.caller, () =>
    isSampled
      ? openFullPatchWithChecksums(db, fullPatchWithChecksums(observationSql, views, limit), signal)
      : openFullPatch(db, fullPatch(observationSql, views, session.format, limit), signal),
  );
  if (!stream.observation) return closed(stream, undefined);
  try {
    const { observation, checksums } = stream;
    const state = observedStateOf(observation, groupRequest, undefined);
    const outcome = observation.torn ? ({ kind: 'outdated' } as const) : planAnswer(target, state);
    // Only now can a plan from the change-log cache turn out to be wrong: it cannot reveal that the client group is lost.
    if (outcome.kind === 'lost' || outcome.kind === 'outdated') return await closed(stream, outcome);
    if (outcome.kind === 'behind') return await closed(stream, { kind: 'behind', isUncertain: false });
    const whole = checksums?.whole;
    const consistencyCheck = whole ? { deltas: 0, since: state.snapshot, checksums: whole } : null;
    const first = await stream.ops.next();
    const read = { kind: 'patch', state, consistencyCheck } as const;
    if (first.done) return await closed(stream, { ...read, firstChunks: [] });
    return { ...read, firstChunks: [first.value], more: stream };
  } catch (error) {
    await stream.close();
    throw error;
  }
}

async function closed<T>(stream: Pick<PatchStream, 'close'>, result: T): Promise<T> {
  await stream.close();
  return result;
}
