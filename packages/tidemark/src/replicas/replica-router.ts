import { setTimeout as sleep } from 'node:timers/promises';
import type { UserContext } from '../context.js';
import { SetupError } from '../errors.js';
import { NoPermitError } from '../limits/semaphore.js';
import { describeError, type Logger } from '../log.js';
import type { NotifierState } from '../pokes/poke-notifier.js';
import type { SubscribeRequest } from '../protocol/poke.js';
import type { FailingWant } from '../protocol/wants.js';
import type { ConsistencyState } from '../pulls/consistency-checker.js';
import { PrimaryState } from '../pulls/primary-state.js';
import type { PullResult } from '../pulls/pull-result.js';
import { assignmentKey, type PullSession } from '../pulls/session.js';
import type { ClientViewInput } from '../schema/schema-cache.js';
import type { ViewPart } from '../view/client-views.js';
import type { Fallback, FallbackMetrics } from './fallback-metrics.js';
import type { Replica } from './replica.js';
import type { Standby, StandbyState } from './standby.js';
import { StandbyWaker } from './standby-waker.js';
import { Standbys } from './standbys.js';
import { SubscriberRouter } from './subscriber-router.js';
import type { ThrottledPoller } from './throttled-poller.js';
import { withReplacement } from './with-replacement.js';

/** How long a pull waits for a standby to satisfy its read requirement, in milliseconds. */
const waitMs = 50;

/** The options of `ReplicaRouter`. */
export interface ReplicaRouterOptions<Context extends UserContext> {
  readonly primary: Replica<Context>;
  readonly standbys: readonly Standby<Context>[];
  /** Polls which mutations the primary has applied. */
  readonly mutationPoller: ThrottledPoller;
  readonly log: Logger;
  readonly metrics: FallbackMetrics;
}

/**
 * Routes each client's reads to the standby assigned to it, as long as that shows everything that the client has seen
 * and written, and to the primary otherwise.
 */
export class ReplicaRouter<Context extends UserContext> {
  readonly #primary: Replica<Context>;
  readonly #standbys: Standbys<Context>;
  readonly #subscribers: SubscriberRouter<Context>;
  readonly #waker: StandbyWaker;
  readonly #options: ReplicaRouterOptions<Context>;

  constructor(options: ReplicaRouterOptions<Context>) {
    const { primary, standbys, log } = options;
    this.#options = options;
    this.#primary = primary;
    this.#standbys = new Standbys(standbys, primary.db, log, () => this.#subscribers.reroute());
    this.#subscribers = new SubscriberRouter((clients, userID) => this.#replicasFor(clients, userID), log);
    this.#waker = new StandbyWaker(() => this.#standbys.active.map(({ replica }) => replica.notifier));
  }

  /** @throws SetupError if one of the standbys follows another primary */
  start(): Promise<void> {
    return this.#standbys.start();
  }

  /** Rejects with the reason while pulls cannot be answered. As long as a standby answers, most can. */
  async ready(input: ClientViewInput<Context>): Promise<void> {
    try {
      await this.#primary.schemaCache.resolve(input);
    } catch (error) {
      const [standby] = this.#standbys.active;
      if (error instanceof SetupError || !standby) throw error;
      await standby.replica.schemaCache.resolve(input);
    }
  }

  /** Like `Puller.pull`, from a standby or the primary. */
  async pull(session: PullSession<Context>): Promise<PullResult> {
    const { caller, request } = session;
    const standby = this.#standbys.of(assignmentKey(request.clientGroupID, caller.context.userID));
    if (!standby) return this.#primary.puller.pull(session);
    const result = await this.#pullFrom(standby, session);
    if (typeof result !== 'string') return result;
    this.#options.metrics.count('tidemark.standby.fallback', { reason: result });
    return this.#primary.puller.pull(session);
  }

  /** Like `Puller.failingWants`, on the primary. */
  failingWants(session: PullSession<Context>): Promise<readonly FailingWant[]> {
    return this.#primary.puller.failingWants(session);
  }

  /** Like `PokeNotifier.subscribe`, on the replicas that the client's pulls read from. */
  async subscribe(ctx: Context, clients: SubscribeRequest, poke: () => void, part?: ViewPart): Promise<() => void> {
    try {
      return await this.#subscribers.subscribe(ctx, clients, poke, part);
    } catch (error) {
      if (this.#standbys.active.length === 0) throw error;
      await this.#standbys.check();
      return this.#subscribers.subscribe(ctx, clients, poke, part);
    }
  }

  /** Call this after a commit on the primary. */
  wake(): void {
    this.#primary.notifier.wake();
    if (this.#standbys.active.length > 0) this.#waker.wake();
  }

  get #all(): readonly Replica<Context>[] {
    return [this.#primary, ...this.#standbys.all.map(({ replica }) => replica)];
  }

  /** Returns the sum of all poke notifiers' subscribers, and the largest of their lags. */
  notifierState(): NotifierState {
    const states = this.#all.map(({ notifier }) => notifier.state());
    const lags = states.flatMap(({ lagMs }) => lagMs ?? []);
    const subscribers = states.reduce((sum, state) => sum + state.subscribers, 0);
    return { subscribers, lagMs: lags.length === 0 ? null : Math.max(...lags) };
  }

  /** Returns the sums over all consistency checkers. */
  consistencyState(): ConsistencyState {
    const states = this.#all.map(({ consistencyChecker }) => consistencyChecker.state());
    const sum = (of: (state: ConsistencyState) => number) => states.reduce((all, state) => all + of(state), 0);
    return { comparisons: sum(({ comparisons }) => comparisons), differences: sum(({ differences }) => differences) };
  }

  /** Returns the standbys with the results of their last health checks. */
  standbys(): readonly StandbyState[] {
    return this.#standbys.all.map(({ name, isUsed, lastCheck }) => ({ name, isUsed, lagMs: lastCheck.lagMs }));
  }

  /** Ends the background work, and closes the connections to the standbys. */
  async close(): Promise<void> {
    this.#standbys.close();
    this.#waker.close();
    for (const { notifier } of this.#all) notifier.close();
    await Promise.all(this.#standbys.all.map(({ replica }) => replica.db.close()));
  }

  async #pullFrom(standby: Standby<Context>, session: PullSession<Context>): Promise<PullResult | Fallback> {
    const { mutationPoller, log } = this.#options;
    const { caller } = session;
    // A session that needs nothing of the primary does not wait for it.
    const polled = session.freshness === 'none' ? undefined : await mutationPoller.poll();
    const primary = new PrimaryState(polled, this.#primary.schemaCache);
    const until = performance.now() + waitMs;
    for (let pauseMs = 1; ; pauseMs *= 2) {
      try {
        const result = await standby.ask(standby.replica.puller.pull(session, primary), closeLate);
        if (result.kind !== 'behind') return this.#withReplacement(session, result);
        if (result.isUncertain) return 'uncertain';
      } catch (error) {
        if (error instanceof NoPermitError || caller.request?.signal.aborted) throw error;
        log.debug({ standby: standby.name, error: describeError(error) }, 'A standby has failed to answer');
        void this.#standbys.check();
        return 'failed';
      }
      if (performance.now() + pauseMs > until) return 'behind';
      await sleep(pauseMs);
    }
  }

  /**
   * Makes a standby's patch continue on the primary if the standby fails before the end. The caller of a read may have
   * processed rows already, so a read cannot start over.
   */
  #withReplacement(session: PullSession<Context>, result: PullResult): PullResult {
    if (session.part || !('cookie' in result)) return result;
    return withReplacement(result, { primary: this.#primary.puller, session, metrics: this.#options.metrics });
  }

  #replicasFor({ clientGroupID }: SubscribeRequest, userID: string): readonly Replica<Context>[] {
    const { active } = this.#standbys;
    if (active.length === 0) return [this.#primary];
    // The user's client groups may read from different standbys.
    if (clientGroupID === undefined) return active.map(({ replica }) => replica);
    return [this.#standbys.of(assignmentKey(clientGroupID, userID))!.replica];
  }
}

/** Closes a standby's result for which no request waits any more. */
function closeLate(result: PullResult): void {
  if ('more' in result) void result.more?.close();
}
