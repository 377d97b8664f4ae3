import type { CookieCache } from '../change-log/cookie-cache.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { isOfRowFormats, isOfValue, isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import type { Caller } from '../http/identify.js';
import type { Annotations } from '../http/route.js';
import { describeError } from '../log.js';
import type { ConsistencyCheck } from '../protocol/consistency-check.js';
import type { OpenedCookie } from '../protocol/cookie.js';
import { noGroup, type PullRequest } from '../protocol/pull.js';
import { OutdatedError, type ResolvedViews } from '../schema/schema-cache.js';
import type { SchemaState } from '../schema/schema-state.js';
import type { Semaphores } from '../semaphores.js';
import { type GroupRequest, type ObservedState, observedStateOf } from '../store/observation.js';
import { fullPatch } from '../store/patches/full-patch.js';
import { fullPatchWithChecksums } from '../store/patches/patch-sql.js';
import { literalObservation } from '../store/poll.js';
import { type ConsistencyChecker, checksumModeFor } from './consistency-checker.js';
import { type CookieComparison, findCookieChanges, noCookieChanges } from './cookie-changes.js';
import type { DeltaSizes } from './delta-size.js';
import { identityOf } from './identity.js';
import { openWithPermit } from './open-with-permit.js';
import { openFullPatch, openPatch } from './patch-stream.js';
import { changedTables, covers, isRenewalDue, type Plan, planPull, type ResetReason } from './plan.js';
import { cookieFields, lastMutationIDChanges, type PatchResult, type PullResult } from './pull-result.js';
import { mayReset, type ReadRequirement, type RequirementOf, satisfies } from './read-requirement.js';
import { type Patch, Reader } from './reader.js';
import type { SharedReads } from './shared-reads.js';

/** Everything that a pull needs for its answer. */
export interface PullParts extends ResolvedViews, Pick<CookieComparison, 'viewDifferenceSince' | 'schemaChangesSince'> {
  readonly db: Database;
  readonly reads: SharedReads;
  readonly cookies: CookieCache;
  readonly sizes: DeltaSizes;
  readonly semaphores: Semaphores;
  readonly consistencyChecker: ConsistencyChecker;
  readonly request: PullRequest;
  readonly caller: Caller<UserContext>;
  /** `rows`: all data as rows, in the order of their keys. The cookie stays the same until something changes. */
  readonly format: 'ops' | 'rows';
  /** Returns the read requirement, given the cookie's snapshot. Undefined if the database is the primary. */
  readonly requirementOf: RequirementOf | undefined;
  /** Returns true if one of the tables now has another schema hash. */
  readonly haveChanged: (tables: SchemaState['tables']) => Promise<boolean>;
}

/** A single pull in progress. */
export class Pull {
  readonly #parts: PullParts;
  #requirement: ReadRequirement | undefined;
  #cookieChanges = noCookieChanges;

  constructor(parts: PullParts) {
    this.#parts = parts;
  }

  /** @param priorState the state, if another statement has already observed it */
  async answer(priorState?: ObservedState): Promise<PullResult> {
    const { request, caller, reads, cookies, consistencyChecker, schema } = this.#parts;
    const verifiedCookie = cookies.open(request.cookie, schema.secrets);
    this.#requirement = this.#parts.requirementOf?.(verifiedCookie?.cookie.parsedSnapshot);
    if (!verifiedCookie) return request.cookie === null ? this.#full() : this.#reset('cookie');
    const { cookie } = verifiedCookie;
    this.#cookieChanges = await findCookieChanges(cookie, this.#parts, caller.log);
    const { viewDifference, schemaChanges } = this.#cookieChanges;
    if (viewDifference && this.#requirement && !(await mayReset('views', this.#parts.viewsDigest, this.#requirement))) {
      return this.#behind(true);
    }
    const consistencyCheck =
      cookie.consistencyCheck === null
        ? null
        : consistencyChecker.consistencyCheckOf(cookie.consistencyCheck, viewDifference?.indexes);
    const checksumMode = consistencyCheck ? checksumModeFor(consistencyCheck) : 'no';
    const reader = new Reader(
      this.#parts,
      caller,
      verifiedCookie,
      checksumMode,
      this.#groupRequest(cookie),
      viewDifference,
      schemaChanges,
    );
    // If there is something to send, the delta's statement observes all other changes too.
    const changedState = priorState ? undefined : reads.stateIfChanged(reader);
    const isEnough = changedState !== undefined && this.#plan(cookie, changedState).kind === 'delta';
    // The statement that threw `OutdatedError` may have begun before the tables were altered.
    let state =
      (schemaChanges.size > 0 ? undefined : priorState) ?? (isEnough ? changedState : await reads.state(reader));
    let plan = this.#plan(cookie, state);
    while (plan.kind === 'delta' && (plan.tables.length > 0 || viewDifference)) {
      const deltaResult = await this.#delta(cookie, consistencyCheck, reader, state);
      if ('result' in deltaResult) return deltaResult.result;
      ({ plan, state } = deltaResult);
    }
    if (plan.kind === 'reset') return this.#reset(plan.reason, cookie);
    if (plan.kind === 'behind') return this.#behind();
    if (plan.kind === 'lost') return plan;
    const isNew = plan.kind === 'delta' && this.#isRenewed(cookie, state, false);
    return isNew ? this.#patchResult('delta', state, consistencyCheck, []) : this.#unchanged(reader, state);
  }

  /** True if the answer needs a new cookie. */
  #isRenewed(cookie: OpenedCookie, state: ObservedState, hasOps: boolean): boolean {
    if (this.#cookieChanges.viewDifference) return true;
    if (hasOps || this.#parts.format === 'rows') return hasOps;
    return isRenewalDue(cookie, state) || this.#isNewClient(state) || this.#cookieChanges.schemaChanges.size > 0;
  }

  /** The client's data matches its views at the state's snapshot. */
  #unchanged(reader: Reader, { snapshot }: ObservedState): PullResult {
    this.#annotate({ pull: 'unchanged' });
    this.#parts.reads.markUnchanged(reader, snapshot);
    return { kind: 'unchanged', verifiedCookie: reader.verifiedCookie };
  }

  async #reset(reason: ResetReason, cookie?: OpenedCookie): Promise<PullResult> {
    const requirement = this.#requirement;
    // The standby may have yet to replay the record of a schema change.
    const hasSchemaChanges = reason === 'views' && this.#cookieChanges.schemaChanges.size > 0;
    if (requirement && (hasSchemaChanges || !(await mayReset(reason, this.#parts.viewsDigest, requirement)))) {
      return this.#behind(true);
    }
    // Another server may have detected an altered table before this one, and put the new schema hash into the cookie.
    if (hasSchemaChanges && (await this.#parts.haveChanged(this.#parts.schema.tables))) throw new OutdatedError();
    this.#parts.caller.log.info({ reason }, 'The client is reset');
    this.#annotate({ reason });
    return this.#full(cookie);
  }

  /**
   * @param planState the state that the plan for this delta is based on
   * @returns another plan if more had changed at the statement's snapshot, or if the delta failed or was wrong
   */
  async #delta(
    cookie: OpenedCookie,
    consistencyCheck: ConsistencyCheck | null,
    reader: Reader,
    planState: ObservedState,
  ): Promise<{ result: PullResult } | { plan: Plan; state: ObservedState }> {
    const { reads, sizes, semaphores, consistencyChecker, schema, views, caller } = this.#parts;
    const changed = changedTables(planState, this.#cookieChanges.schemaChanges);
    let patch: Patch | undefined;
    try {
      const size = await sizes.of(reader, changed);
      if (size === 'too long') return { plan: { kind: 'reset', reason: 'size' }, state: planState };
      // After a view set change, the statement reads all rows of the views that differ.
      const isShort = size === 'short' && !this.#cookieChanges.viewDifference;
      patch = await reads.delta(reader, changed, isShort ? semaphores.reads : semaphores.longReads);
      const { state, torn, tables, checksums, firstChunks, more } = patch;
      if (torn) throw new OutdatedError(state);
      const actual = this.#plan(cookie, state);
      if (!covers({ kind: 'delta', tables }, actual)) {
        await more?.close();
        return { plan: actual, state };
      }
      const checkResult =
        consistencyCheck && checksums
          ? consistencyChecker.next(consistencyCheck, checksums, state.snapshot)
          : { consistencyCheck: null };
      if ('differences' in checkResult) {
        await more?.close();
        const at = { since: consistencyCheck!.since, snapshot: state.snapshot };
        await consistencyChecker.logDifferences({ ...checkResult, ...at, schema, views, log: caller.log });
        return { plan: { kind: 'reset', reason: 'inconsistent' }, state };
      }
      const { consistencyCheck: next } = checkResult;
      const isNew = this.#isRenewed(cookie, state, firstChunks.length > 0) || next?.deltas === 0;
      return {
        result: isNew
          ? this.#patchResult(this.#cookieChanges.viewDifference ? 'views' : 'delta', state, next, firstChunks, more)
          : this.#unchanged(reader, state),
      };
    } catch (error) {
      await patch?.more?.close();
      if (error instanceof Problem || isTransient(error)) throw error;
      if (isOfRowFormats(error)) return { plan: { kind: 'reset', reason: 'views' }, state: planState };
      // A table may have just been altered.
      if (await this.#parts.haveChanged(reader.schema.tables)) throw new OutdatedError();
      // The delta also reads removed views, whose parameters may no longer be valid values of their types.
      if (this.#cookieChanges.viewDifference && isOfValue(error)) {
        return { plan: { kind: 'reset', reason: 'views' }, state: planState };
      }
      caller.log.error({ error: describeError(error) }, 'A delta failed');
      return { plan: { kind: 'reset', reason: 'failure' }, state: planState };
    }
  }

  /** @param cookie the cookie that the client is reset from, if readable; a standby behind it must not answer */
  async #full(cookie?: OpenedCookie): Promise<PullResult> {
    const { db, semaphores, consistencyChecker, schema, views, request, caller, format, reads } = this.#parts;
    if (this.#requirement && !(await reads.satisfies(this.#requirement))) return this.#behind();
    const groupRequest = this.#groupRequest(undefined);
    const { clientGroupID } = request;
    const input = { base: undefined, tables: schema.tableIDs, groupIDs: [clientGroupID] };
    const observationSql = literalObservation(input, schema.tables);
    const signal = caller.signal?.();
    const isSampled = clientGroupID !== noGroup && consistencyChecker.samples(clientGroupID, schema.secrets[0]);
    const patch = await openWithPermit(semaphores.longReads, caller, () =>
      isSampled
        ? openPatch(db, fullPatchWithChecksums(observationSql, views), true, signal)
        : openFullPatch(db, fullPatch(observationSql, views, format), signal),
    );
    try {
      if (patch.observation.torn) throw new OutdatedError();
      const state = observedStateOf(patch.observation, groupRequest, undefined);
      const plan = this.#plan(cookie, state);
      // A plan from the change-log cache cannot reveal that the client group is lost.
      if (plan.kind === 'lost') {
        await patch.close();
        return plan;
      }
      const first = plan.kind === 'behind' ? undefined : await patch.ops.next();
      if (!first || first.done) await patch.close();
      if (!first) return this.#behind();
      const whole = patch.checksums?.whole;
      const consistencyCheck = whole ? { deltas: 0, since: state.snapshot, checksums: whole } : null;
      const kind = request.cookie === null ? 'first' : 'reset';
      return first.done
        ? this.#patchResult(kind, state, consistencyCheck, [])
        : this.#patchResult(kind, state, consistencyCheck, [first.value], patch);
    } catch (error) {
      await patch.close();
      throw error;
    }
  }

  /** The standby shows less than the client has seen, or than the read requirement demands. */
  #behind(isUncertain = false): PullResult {
    this.#annotate({ pull: 'behind' });
    return { kind: 'behind', isUncertain };
  }

  #annotate(annotations: Annotations): void {
    this.#parts.caller.annotate?.(annotations);
  }

  #groupRequest(cookie: OpenedCookie | undefined): GroupRequest {
    const { clientGroupID, client } = this.#parts.request;
    return { clientGroupID, sameGroup: cookie?.clientGroupID === clientGroupID, clientID: client?.id };
  }

  /** @throws Problem if the client group belongs to another user, or a client's record is lost. */
  #plan(cookie: OpenedCookie | undefined, state: ObservedState): Plan {
    const { caller, request } = this.#parts;
    if (this.#requirement && !satisfies(state, this.#requirement)) return { kind: 'behind' };
    if (state.history.current === null) {
      // A standby has yet to replay the record of the timeline. On a primary, the next schema state read adds it.
      if (state.recovery) return { kind: 'behind' };
      throw new OutdatedError();
    }
    const { clientGroupID, client } = request;
    if (state.owner !== null && state.owner !== caller.context.userID) {
      throw new Problem('forbidden', 'The client group belongs to another user.');
    }
    const plan: Plan = cookie
      ? planPull(cookie, {
          state,
          clientGroupID,
          ...identityOf(this.#parts, state),
          schemaChanges: this.#cookieChanges.schemaChanges,
          ...(this.#cookieChanges.viewDifference && { views: cookie.views }),
        })
      : { kind: 'reset', reason: 'cookie' };
    if (plan.kind === 'behind') return plan;
    if (client && !state.clientKnown && client.lastMutationID !== 0) {
      throw state.recovery
        ? new Problem('unavailable', 'This standby has no record of the client yet; try again later')
        : new Problem('client-record-lost', 'The client has applied mutations, but the server has no record of it.');
    }
    return plan.kind === 'unchanged' && (this.#cookieChanges.viewDifference || this.#isNewClient(state))
      ? { kind: 'delta', tables: [] }
      : plan;
  }

  /** True if the server has no record of the client that the request names; see `lastMutationIDChanges`. */
  #isNewClient(state: ObservedState): boolean {
    return this.#parts.request.client !== undefined && !state.clientKnown;
  }

  #patchResult(
    kind: PatchResult['kind'],
    state: ObservedState,
    consistencyCheck: ConsistencyCheck | null,
    firstChunks: PatchResult['firstChunks'],
    more?: PatchResult['more'],
  ): PatchResult {
    const { request, schema, cookies } = this.#parts;
    const { current, lsn } = state.history;
    // `#plan` has ended the pull if the timeline is unknown.
    const position = { timeline: current!, lsn };
    const fields = cookieFields(request, state, identityOf(this.#parts, state), consistencyCheck, position);
    const meaning = { parsedSnapshot: state.snapshot, parsedNext: state.nextXid, parsedWalPosition: position };
    const cookie = cookies.seal(fields, meaning, schema.secrets);
    this.#annotate({ pull: kind });
    return { kind, cookie, lastMutationIDChanges: lastMutationIDChanges(request, state), firstChunks, more };
  }
}
