/** Answers pulls from one database: resolve the views, open the cookie, observe, plan, read, seal. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeLogPoller } from '../change-log/change-log-poller.js';
import { CookieCache } from '../change-log/cookie-cache.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { isOfValues } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import type { Want } from '../protocol/wants.js';
import type { ResolvedViews, SchemaCache } from '../schema/schema-cache.js';
import type { ObservedState } from '../store/observation.js';
import { rowsWithoutColumns } from '../store/patches/full-patch.js';
import type { RowLimit } from '../store/patches/patch-sql.js';
import type { Collaborators } from './collaborators.js';
import { DeltaSizes } from './delta-size.js';
import { openCookie } from './open-cookie.js';
import { throttleQueries } from './permits.js';
import { identityOf, type ResetReason } from './plan.js';
import { isRenewed, planAnswer } from './plan-answer.js';
import type { PrimaryState } from './primary-state.js';
import {
  cookieFields,
  lastMutationIDChanges,
  type Outdated,
  type PatchResult,
  type PullResult,
} from './pull-result.js';
import { type PatchRead, readDelta, readEverything } from './read-patch.js';
import type { Reader } from './reader.js';
import type { PullSession, PullTarget } from './session.js';
import { SharedReads } from './shared-reads.js';
import { nextStage } from './stages.js';

/**
 * The pause before each attempt after the first. A migration may alter one table after another, each in a transaction
 * of its own.
 */
const pausesMs = [0, 20, 100, 400];

/** Views with more rows than a reset may read are assumed to have this many times as many. */
const assumedGrowth = 4;

export interface PullerOptions<Context extends UserContext>
  extends Pick<Collaborators<Context>, 'db' | 'semaphores' | 'schemaCache' | 'consistencyChecker'> {
  /** If undefined, each pull reads the change log with a statement of its own. */
  readonly poller: ChangeLogPoller | undefined;
}

/** One attempt at a pull, for views whose schema state may turn out to be outdated. */
interface Attempt<Context extends UserContext> {
  readonly session: PullSession<Context>;
  readonly resolved: ResolvedViews;
  /** The state that the previous attempt observed, if it did. */
  readonly observed: ObservedState | undefined;
  /** The primary, if the database is a standby. */
  readonly primary: PrimaryState<Context> | undefined;
}

/** Answers pulls from one database. */
export class Puller<Context extends UserContext> {
  readonly #collaborators: Collaborators<Context>;
  readonly #limitedDatabase: Database;

  constructor({ poller, ...options }: PullerOptions<Context>) {
    this.#limitedDatabase = throttleQueries(options.semaphores.reads, options.db);
    const reads = new SharedReads(this.#limitedDatabase, poller);
    const sizes = new DeltaSizes(this.#limitedDatabase);
    this.#collaborators = { ...options, cookies: new CookieCache(), reads, sizes };
  }

  /**
   * Answers a pull with the changes since the request's cookie, as of one snapshot of the database. The caller must
   * read the result to its end, or close it.
   * @param primary the primary, if the database is a standby
   * @throws Problem if the client group belongs to another user, or a client's record is lost; SetupError; and every
   * transient failure.
   */
  async pull(session: PullSession<Context>, primary?: PrimaryState<Context>): Promise<PullResult> {
    const { schemaCache } = this.#collaborators;
    let observed: ObservedState | undefined;
    for (const pauseMs of [...pausesMs, undefined]) {
      const { resolved, reading, laterViews } = await this.#resolve(session);
      const result = await this.#answer({ session, resolved, observed, primary });
      if (result.kind !== 'outdated') return 'cookie' in result ? { ...result, laterViews } : result;
      observed = result.state;
      if (pauseMs === undefined) break;
      await sleep(pauseMs);
      schemaCache.forget(reading);
    }
    throw new Problem('unavailable', 'The tables are being altered; try again later');
  }

  /** Returns the wants whose instances cannot be read because of their arguments. Reads each of them alone. */
  async failingWants({ input }: PullSession<Context>): Promise<readonly Want[]> {
    const failing: Want[] = [];
    for (const want of input.wants ?? []) {
      const instance = { ...input, wants: [want], names: new Set([want.view]) };
      try {
        const { views } = await this.#collaborators.schemaCache.resolve(instance);
        await this.#limitedDatabase.query({ text: `select count(*) from (${views.map(rowsWithoutColumns)}) r` });
      } catch (error) {
        if (!isOfValues(error)) throw error;
        failing.push(want);
      }
    }
    return failing;
  }

  /** Resolves the session's views: in stages, those that the client receives next. */
  async #resolve({
    input,
    part,
    stages,
    request,
  }: PullSession<Context>): Promise<
    Awaited<ReturnType<SchemaCache<Context>['resolveWith']>> & Pick<PatchResult, 'laterViews'>
  > {
    const { schemaCache, cookies } = this.#collaborators;
    const all = await schemaCache.resolveWith(input, part);
    if (!stages) return all;
    const cookie = cookies.open(request.cookie, all.resolved.schema.secrets)?.cookie;
    const stage = nextStage(all.resolved, cookie?.views);
    if (!stage) return all;
    const { names, laterViews } = stage;
    return { ...(await schemaCache.resolveWith({ ...input, names }, part)), laterViews };
  }

  /** Answers a pull. If Postgres refuses a row's key, searches for the row by the text of its key. */
  async #answer(attempt: Attempt<Context>): Promise<PullResult | Outdated> {
    const { session, resolved } = attempt;
    try {
      return await this.#answerInFull(attempt);
    } catch (error) {
      if (session.part?.key === undefined || !isOfValues(error)) throw error;
      // If Postgres refuses the text of a key, then either no row has that key, or the view itself fails. A search of
      // all rows by the key's text shows which.
      const views = resolved.views.map((one) => ({ ...one, view: { ...one.view, whole: one.view.now } }));
      return await this.#answerInFull({ ...attempt, resolved: { ...resolved, views } });
    }
  }

  /** Answers a pull. For rows, a delta only shows that something has changed, and all rows are read. */
  async #answerInFull(attempt: Attempt<Context>): Promise<PullResult | Outdated> {
    const { session } = attempt;
    const result = await this.#answerOnce(attempt);
    if (session.format === 'ops' || result.kind !== 'delta') return result;
    await result.more?.close();
    const request = { ...session.request, cookie: null };
    return this.#answerOnce({ ...attempt, session: { ...session, request }, observed: undefined });
  }

  async #answerOnce({ session, resolved, observed, primary }: Attempt<Context>): Promise<PullResult | Outdated> {
    const reader = await openCookie(session, resolved, this.#collaborators, primary !== undefined);
    if (reader === 'outdated') return { kind: 'outdated' };
    const requirement = primary?.requirementOf(session, reader?.base);
    const target: PullTarget<Context> = { session, resolved, reader, requirement };
    if (!reader) return this.#readAll(target, primary, session.request.cookie === null ? undefined : 'cookie');
    // The views of a standby may be older than those of the cookie.
    if (reader.viewDifference && primary && !(await primary.confirms(session, resolved.viewsDigest))) return uncertain;
    let state = await this.#observe(target, reader, observed);
    let plan = planAnswer(target, state);
    let minRows = 0;
    for (;;) {
      if (plan.kind === 'outdated' || plan.kind === 'lost') return plan;
      if (plan.kind === 'behind') return { kind: 'behind', isUncertain: false };
      if (plan.kind === 'unchanged') return this.#unchanged(reader, state);
      if (plan.kind === 'renew') return this.#seal(target, 'delta', renewal(reader, state));
      if (plan.kind === 'reset') {
        const { reason, limit } = plan;
        if (limit === undefined) return this.#readAll(target, primary, reason);
        const result = await this.#readUpTo(target, primary, reason, limit);
        if (result) return result;
        minRows = assumedGrowth * limit.rows;
      }
      const read = await readDelta(target, reader, state, minRows, this.#collaborators);
      if (read.kind === 'outdated') return read;
      if (read.kind === 'patch') return this.#afterDelta(target, reader, read);
      ({ plan, state } = read);
    }
  }

  /** Observes the state. If there are changes to send, the delta's statement observes all others too. */
  async #observe(
    target: PullTarget<Context>,
    reader: Reader,
    observed: ObservedState | undefined,
  ): Promise<ObservedState> {
    // The statement that found the schema state outdated may have begun before the tables were altered.
    if (observed && reader.schemaChanges.size === 0) return observed;
    const { reads } = this.#collaborators;
    const changed = observed ? undefined : reads.stateIfChanged(reader);
    return changed && planAnswer(target, changed).kind === 'delta' ? changed : reads.state(reader);
  }

  #afterDelta(target: PullTarget<Context>, reader: Reader, read: PatchRead): PullResult {
    const isNew = isRenewed(target, reader, read.state, read.firstChunks.length > 0);
    const isFreshCheck = read.consistencyCheck?.deltas === 0;
    return isNew || isFreshCheck
      ? this.#seal(target, reader.viewDifference ? 'views' : 'delta', read)
      : this.#unchanged(reader, read.state);
  }

  /** The client's data matches its views at the state's snapshot. */
  #unchanged(reader: Reader, { snapshot }: ObservedState): PullResult {
    this.#collaborators.reads.markUnchanged(reader, snapshot);
    return { kind: 'unchanged', verifiedCookie: reader.verifiedCookie };
  }

  /** @param reason why the client is reset; undefined if it has no data */
  async #readAll(
    target: PullTarget<Context>,
    primary: PrimaryState<Context> | undefined,
    reason: ResetReason | undefined,
  ): Promise<PullResult | Outdated> {
    // Only a limit can prevent a result.
    return (await this.#readUpTo(target, primary, reason, undefined))!;
  }

  /** @returns undefined if there are more rows than the limit */
  async #readUpTo(
    target: PullTarget<Context>,
    primary: PrimaryState<Context> | undefined,
    reason: ResetReason | undefined,
    limit: RowLimit | undefined,
  ): Promise<PullResult | Outdated | undefined> {
    const { session, resolved, reader } = target;
    // A schema change may have yet to be recorded: on a standby it has yet to be replayed, on a primary to be detected.
    const hasSchemaChanges = reason === 'views' && reader !== undefined && reader.schemaChanges.size > 0;
    const needsPrimary = reason !== undefined && primary !== undefined;
    if (needsPrimary && (hasSchemaChanges || !(await primary.mayReset(session, reason, resolved.viewsDigest)))) {
      return uncertain;
    }
    if (hasSchemaChanges && (await this.#collaborators.schemaCache.haveChanged(resolved.schema.tables))) {
      return { kind: 'outdated' };
    }
    const read = await readEverything(target, limit, this.#collaborators);
    if (read?.kind !== 'patch') return read;
    if (reason !== undefined) session.caller.log.info({ reason }, 'The client is reset');
    return this.#seal(target, reason === undefined ? 'first' : 'reset', read, reason);
  }

  /** Signs the cookie of a patch. */
  #seal(
    { session, resolved }: PullTarget<Context>,
    kind: PatchResult['kind'],
    { state, consistencyCheck, firstChunks, more }: PatchRead,
    reason?: ResetReason,
  ): PatchResult {
    const { current, lsn } = state.history;
    // Where the timeline is unknown, the plan is `outdated` or `behind`.
    const position = { timeline: current!, lsn };
    const fields = cookieFields(session.request, state, identityOf(resolved, state), consistencyCheck, position);
    const meaning = { parsedSnapshot: state.snapshot, parsedNext: state.nextXid, parsedWalPosition: position };
    const cookie = this.#collaborators.cookies.seal(fields, meaning, resolved.schema.secrets);
    return {
      kind,
      reason,
      cookie,
      lastMutationIDChanges: lastMutationIDChanges(session.request, state),
      firstChunks,
      more,
    };
  }
}

/** A standby cannot determine whether its views are current. Waiting for it does not help. */
const uncertain: PullResult = { kind: 'behind', isUncertain: true };

function renewal({ consistencyCheck }: Reader, state: ObservedState): PatchRead {
  return { kind: 'patch', state, consistencyCheck, firstChunks: [] };
}
