/** Reads what a plan for a delta says: the changes since a base. */
import type { UserContext } from '../context.js';
import { isOfRowFormats, isOfValue, isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import { describeError } from '../log.js';
import type { RowLimit } from '../store/patches/patch-sql.js';
import type { ObservedState } from '../store/polls/observation.js';
import type { Collaborators } from './collaborators.js';
import { type AnswerPlan, changedTables, covers, type ResetReason } from './plan.js';
import { planAnswer } from './plan-answer.js';
import type { Outdated } from './pull-result.js';
import type { Patch, PatchRead, Reader } from './reads/reader.js';
import type { PullTarget } from './session.js';

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
    if (torn) {
      await more?.close();
      return { kind: 'outdated', state };
    }
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
