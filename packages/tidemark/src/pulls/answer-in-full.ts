/** Answers pulls with everything that the views show: first pulls and resets. */
import type { UserContext } from '../context.js';
import { isOfValues } from '../db/sqlstate.js';
import { noGroup } from '../protocol/pull.js';
import { fullPatch } from '../store/patches/full-patch.js';
import { fullPatchWithChecksums, type RowLimit } from '../store/patches/patch-sql.js';
import { observedStateOf } from '../store/polls/observation.js';
import { literalObservation } from '../store/polls/poll.js';
import type { Collaborators } from './collaborators.js';
import type { ResetReason } from './plan.js';
import { planAnswer } from './plan-answer.js';
import type { PrimaryState } from './primary-state.js';
import { type Outdated, type PatchResult, type PullResult, seal, uncertain } from './pull-result.js';
import { openFullPatch, openFullPatchWithChecksums, type PatchStream } from './reads/patch-stream.js';
import { openWithPermit } from './reads/permits.js';
import type { PatchRead } from './reads/reader.js';
import { groupRequestOf, type PullTarget } from './session.js';

type EverythingRead = PatchRead | Exclude<PullResult, PatchResult> | Outdated;

/**
 * Answers with all data.
 * @param primary the primary, if the database is a standby
 * @param reason why the client is reset; undefined if it has no data
 */
export async function answerInFull<Context extends UserContext>(
  target: PullTarget<Context>,
  primary: PrimaryState<Context> | undefined,
  reason: ResetReason | undefined,
  collaborators: Collaborators<Context>,
): Promise<PullResult | Outdated> {
  // Only a limit can prevent a result.
  return (await answerUpTo(target, primary, reason, undefined, collaborators))!;
}

/**
 * Answers with all data, as `answerInFull` does, unless there is too much.
 * @returns undefined if there are more rows than the limit
 */
export async function answerUpTo<Context extends UserContext>(
  target: PullTarget<Context>,
  primary: PrimaryState<Context> | undefined,
  reason: ResetReason | undefined,
  limit: RowLimit | undefined,
  collaborators: Collaborators<Context>,
): Promise<PullResult | Outdated | undefined> {
  const { session, resolved, reader } = target;
  const { schemaCache, cookies } = collaborators;
  // A schema change may have yet to be recorded: on a standby it has yet to be replayed, on a primary to be detected.
  const hasSchemaChanges = reason === 'views' && reader !== undefined && reader.schemaChanges.size > 0;
  const needsPrimary = reason !== undefined && primary !== undefined;
  if (needsPrimary && (hasSchemaChanges || !(await primary.mayReset(session, reason, resolved.viewsDigest)))) {
    return uncertain;
  }
  if (hasSchemaChanges && (await schemaCache.haveChanged(resolved.schema.tables))) return { kind: 'outdated' };
  const read = await readEverything(target, limit, collaborators);
  if (read?.kind !== 'patch') return read;
  if (reason !== undefined) session.caller.log.info({ reason }, 'The client is reset');
  return seal(target, reason === undefined ? 'first' : 'reset', read, cookies, reason);
}

/**
 * Reads all data. A standby that is behind a readable cookie does not answer. If Postgres refuses the text of a row's
 * key, then either no row has that key, or the view itself fails. A search of all rows by the key's text shows which.
 * @param limit undefined for any number of rows
 * @returns undefined if there are more rows
 */
async function readEverything<Context extends UserContext>(
  target: PullTarget<Context>,
  limit: RowLimit | undefined,
  collaborators: Collaborators<Context>,
): Promise<EverythingRead | undefined> {
  const { session, resolved } = target;
  try {
    return await readViews(target, limit, collaborators);
  } catch (error) {
    if (session.part?.key === undefined || !isOfValues(error)) throw error;
    const views = resolved.views.map((one) => ({ ...one, view: { ...one.view, whole: one.view.now } }));
    return readViews({ ...target, resolved: { ...resolved, views } }, limit, collaborators);
  }
}

async function readViews<Context extends UserContext>(
  target: PullTarget<Context>,
  limit: RowLimit | undefined,
  { db, reads, semaphores, consistencyChecker }: Collaborators<Context>,
): Promise<EverythingRead | undefined> {
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
