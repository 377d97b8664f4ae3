/** Answers pulls from one database: resolve the views, open the cookie, observe, plan, read, seal. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeLogPoller } from '../change-log/change-log-poller.js';
import { CookieCache } from '../change-log/cookie-cache.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import { isOfValues } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import { type FailingWant, otherText, unreadable } from '../protocol/wants.js';
import type { ResolvedViews, SchemaCache } from '../schema/schema-cache.js';
import { rowsWithoutColumns } from '../store/patches/full-patch.js';
import type { ObservedState } from '../store/polls/observation.js';
import { answerInFull, answerUpTo } from './answer-in-full.js';
import type { Collaborators } from './collaborators.js';
import { openCookie } from './open-cookie.js';
import { isRenewed, planAnswer } from './plan-answer.js';
import type { PrimaryState } from './primary-state.js';
import { type Outdated, type PatchResult, type PullResult, seal, uncertain } from './pull-result.js';
import { readDelta } from './read-delta.js';
import { DeltaSizes } from './reads/delta-size.js';
import { throttleQueries } from './reads/permits.js';
import type { PatchRead, Reader } from './reads/reader.js';
import { SharedReads } from './reads/shared-reads.js';
import type { PullSession, PullTarget } from './session.js';
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
  /** If undefined, there is no change-log cache. */
  readonly poller: ChangeLogPoller | undefined;
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
    let observed: ObservedState | undefined;
    for (const pauseMs of [...pausesMs, undefined]) {
      const { resolved, reading, laterViews } = await this.#resolve(session);
      const result = await this.#answer(session, resolved, observed, primary);
      if (result.kind !== 'outdated') return 'cookie' in result ? { ...result, laterViews } : result;
      observed = result.state;
      if (pauseMs === undefined) break;
      await sleep(pauseMs);
      this.#collaborators.schemaCache.forget(reading);
    }
    throw new Problem('unavailable', 'The tables are being altered; try again later');
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

  /**
   * Answers a pull for views whose schema state may turn out to be outdated.
   * @param observed the state that the previous attempt observed, if it did
   */
  async #answer(
    session: PullSession<Context>,
    resolved: ResolvedViews,
    observed: ObservedState | undefined,
    primary: PrimaryState<Context> | undefined,
  ): Promise<PullResult | Outdated> {
    const collaborators = this.#collaborators;
    const reader = await openCookie(session, resolved, collaborators, primary !== undefined);
    if (reader === 'outdated') return { kind: 'outdated' };
    const requirement = primary?.requirementOf(session, reader?.base);
    const target: PullTarget<Context> = { session, resolved, reader, requirement };
    if (!reader) {
      const reason = session.request.cookie === null ? undefined : 'cookie';
      return answerInFull(target, primary, reason, collaborators);
    }
    // The views of a standby may be older than those of the cookie.
    if (reader.viewDifference && primary && !(await primary.confirms(session, resolved.viewsDigest))) return uncertain;
    let state = this.#knownState(target, reader, observed) ?? (await collaborators.reads.state(reader));
    let plan = planAnswer(target, state);
    let minRows = 0;
    for (;;) {
      if (plan.kind === 'outdated' || plan.kind === 'lost') return plan;
      if (plan.kind === 'behind') return { kind: 'behind', isUncertain: false };
      if (plan.kind === 'unchanged') return this.#unchanged(reader, state);
      if (plan.kind === 'renew') return seal(target, 'delta', renewal(reader, state), collaborators.cookies);
      if (plan.kind === 'reset') {
        const { reason, limit } = plan;
        if (limit === undefined) return answerInFull(target, primary, reason, collaborators);
        const result = await answerUpTo(target, primary, reason, limit, collaborators);
        if (result) return result;
        minRows = assumedGrowth * limit.rows;
      }
      const read = await readDelta(target, reader, state, minRows, collaborators);
      if (read.kind === 'outdated') return read;
      if (read.kind === 'patch') return this.#afterDelta(target, reader, read, primary);
      ({ plan, state } = read);
    }
  }

  /**
   * Returns a state that was observed already, if it suffices: that of the previous attempt, or that of the newest poll
   * if there are changes to send. The delta's statement then observes all others too.
   */
  #knownState(
    target: PullTarget<Context>,
    reader: Reader,
    observed: ObservedState | undefined,
  ): ObservedState | undefined {
    // The statement that found the schema state outdated may have begun before the tables were altered.
    if (observed) return reader.schemaChanges.size === 0 ? observed : undefined;
    const changed = this.#collaborators.reads.stateIfChanged(reader);
    return changed && planAnswer(target, changed).kind === 'delta' ? changed : undefined;
  }

  async #afterDelta(
    target: PullTarget<Context>,
    reader: Reader,
    read: PatchRead,
    primary: PrimaryState<Context> | undefined,
  ): Promise<PullResult | Outdated> {
    const isNew = isRenewed(target, reader, read.state, read.firstChunks.length > 0);
    const isFreshCheck = read.consistencyCheck?.deltas === 0;
    if (!isNew && !isFreshCheck) return this.#unchanged(reader, read.state);
    const { session } = target;
    if (session.format === 'ops') {
      return seal(target, reader.viewDifference ? 'views' : 'delta', read, this.#collaborators.cookies);
    }
    // For rows, a delta only shows that something has changed, and all rows are read.
    await read.more?.close();
    const first = { ...session, request: { ...session.request, cookie: null } };
    const requirement = primary?.requirementOf(first, undefined);
    return answerInFull(
      { ...target, session: first, reader: undefined, requirement },
      primary,
      undefined,
      this.#collaborators,
    );
  }

  /** The client's data matches its views at the state's snapshot. */
  #unchanged(reader: Reader, state: ObservedState): PullResult {
    this.#collaborators.reads.markUnchanged(reader, state);
    return { kind: 'unchanged', verifiedCookie: reader.verifiedCookie };
  }

  /**
   * Returns the wants whose instances cannot be read because of their arguments: alone, or together with earlier ones of
   * the same view, if those have another query text. Reads each of them alone.
   */
  async failingWants({ input }: PullSession<Context>): Promise<readonly FailingWant[]> {
    const failing: FailingWant[] = [];
    const queryDigests = new Map<string, string>();
    for (const want of input.wants ?? []) {
      const instance = { ...input, wants: [want], names: new Set([want.view]) };
      try {
        const { views, queryDigest } = await this.#collaborators.schemaCache.resolve(instance);
        const isAlike = (queryDigests.get(want.view) ?? queryDigest) === queryDigest;
        if (!isAlike) {
          failing.push({ want, message: otherText });
          continue;
        }
        queryDigests.set(want.view, queryDigest);
        await this.#limitedDatabase.query({ text: `select count(*) from (${rowsWithoutColumns(views[0]!)}) r` });
      } catch (error) {
        if (!isOfValues(error)) throw error;
        failing.push({ want, message: unreadable });
      }
    }
    return failing;
  }
}

function renewal({ consistencyCheck }: Reader, state: ObservedState): PatchRead {
  return { kind: 'patch', state, consistencyCheck, firstChunks: [] };
}
