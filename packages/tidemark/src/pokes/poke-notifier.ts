import type { ChangeLogPoller } from '../change-log/change-log-poller.js';
import type { UserContext } from '../context.js';
import type { Database } from '../db/database.js';
import type { PollPacer } from '../limits/poll-pacer.js';
import { describeError, type Logger } from '../log.js';
import type { SubscribeRequest } from '../protocol/poke.js';
import { noNotices, noticeChannel } from '../schema/notify.js';
import type { SchemaCache } from '../schema/schema-cache.js';
import type { ViewPart } from '../view/client-views.js';
import type { OpenSubscriptions } from './open-subscriptions.js';
import type { PokeMetrics } from './poke-metrics.js';
import { type Base, type PollParts, pollAndPoke } from './poll.js';
import { PollSchedule } from './poll-schedule.js';
import { PostponedViews } from './postponed-views.js';
import { type Subscriber, type Subscription, SubscriptionIndex } from './subscription-index.js';
import { SubscriptionRefresher } from './subscription-refresher.js';

export interface NotifierOptions<Context extends UserContext> {
  readonly db: Database;
  readonly schemaCache: SchemaCache<Context>;
  readonly poller: ChangeLogPoller;
  readonly log: Logger;
  /** The milliseconds between two polls of the change log while there are no changes. */
  readonly intervalMs: number;
  /** Default: none. */
  readonly pollPacer?: PollPacer | undefined;
  /** True to poll also when the database sends a notification. */
  readonly notify: boolean;
  /** Everything that a disconnect ends. */
  readonly openSubscriptions: Pick<OpenSubscriptions, 'disconnect'>;
  /** Default: none. */
  readonly metrics?: PokeMetrics | undefined;
}

export interface NotifierState {
  readonly subscribers: number;
  /** Milliseconds since the change log was last read; null while the notifier does not need to read it. */
  readonly lagMs: number | null;
}

/**
 * Pokes the subscribers whose client view has changed, regardless of who made the change. Reads the change log only
 * while there are subscribers. Each poll begins where the last successful one ended, so the next one finds what was
 * missed while the database was unreachable.
 */
export class PokeNotifier<Context extends UserContext> {
  readonly #options: NotifierOptions<Context>;
  readonly #subscriptions: SubscriptionIndex;
  readonly #refresher: SubscriptionRefresher;
  readonly #parts: PollParts;
  readonly #schedule: PollSchedule;
  #base: Base | undefined;
  #polling: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | undefined;
  /** The time at which the last successful poll began. */
  #polledAt = 0;
  /** The time of the first commit since then that woke the notifier. */
  #wokenAt: number | undefined;

  constructor(options: NotifierOptions<Context>) {
    const { db, schemaCache, poller, log, intervalMs, pollPacer, openSubscriptions, metrics } = options;
    this.#subscriptions = new SubscriptionIndex(metrics);
    this.#options = options;
    this.#schedule = new PollSchedule(intervalMs, pollPacer);
    this.#refresher = new SubscriptionRefresher(this.#subscriptions, () => schemaCache.present());
    const parts = { db, poller, subscriptions: this.#subscriptions, openSubscriptions, log };
    this.#parts = { ...parts, postponedViews: new PostponedViews(parts) };
  }

  /**
   * Calls `poke` whenever this user's client view may have changed, or the mutation IDs of the client group, or of any
   * group of the user if none is given.
   * @param part restricts the client view to this part
   * @returns a function that unsubscribes
   * @throws SetupError, or the database's error, if subscribers cannot be poked at present
   */
  async subscribe(
    ctx: Context,
    { clientGroupID, ...inputs }: SubscribeRequest,
    poke: () => void,
    part?: ViewPart,
  ): Promise<() => void> {
    const resolveViews = async (): Promise<Subscription> => {
      const { schema, views } = await this.#options.schemaCache.resolve({ ctx, ...inputs }, part);
      return { views, tables: schema.tables, schemaHash: schema.schemaHash };
    };
    // Reads this hash first, so that the next refresh detects a schema change in between.
    const { schemaHash: resolvedSchemaHash } = await this.#options.schemaCache.present();
    const subscriber: Subscriber = {
      clientGroupID,
      userID: ctx.userID,
      subscription: await resolveViews(),
      resolvedSchemaHash,
      resolveViews,
      poke,
    };
    this.#subscriptions.add(subscriber);
    this.#refresher.add(subscriber);
    try {
      // A poll in progress does not include this subscriber's tables. The subscriber's first pull sees what the poll
      // misses.
      if (this.#base) await this.#polling?.catch(() => {});
      else await this.#poll();
    } catch (error) {
      this.#subscriptions.remove(subscriber);
      throw error;
    }
    return () => this.#subscriptions.remove(subscriber);
  }

  /**
   * Polls immediately, because something has been committed.
   * @param committedAt the time of the commit, by `performance.now()`
   */
  wake(committedAt: number = performance.now()): void {
    if (this.#subscriptions.size === 0) return;
    this.#wokenAt = Math.min(this.#wokenAt ?? committedAt, committedAt);
    this.#schedule.wake();
    if (!this.#polling) this.#wait();
  }

  state(): NotifierState {
    const { size } = this.#subscriptions;
    const isOn = size > 0 && this.#base !== undefined;
    return { subscribers: size, lagMs: isOn ? Math.round(performance.now() - this.#polledAt) : null };
  }

  close(): void {
    for (const subscriber of this.#subscriptions.subscribers()) this.#subscriptions.remove(subscriber);
    if (!this.#polling) this.#wait();
  }

  #poll(): Promise<void> {
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = undefined;
      this.#wait();
    });
    return this.#polling;
  }

  /** Schedules the next poll, or stops if there are no more subscribers. */
  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#subscriptions.size === 0) {
      this.#base = undefined;
      this.#parts.postponedViews.clear();
      this.#unlisten?.();
      this.#unlisten = undefined;
      return;
    }
    const { db, notify } = this.#options;
    if (notify) {
      this.#unlisten ??= db.listen(
        noticeChannel,
        () => this.wake(),
        () => this.#options.log.warn({}, noNotices),
      );
    }
    const waitMs = Math.max(0, this.#schedule.due() - performance.now());
    // Failures have been logged already.
    this.#timer = setTimeout(() => this.#poll().catch(() => {}), waitMs);
  }

  async #pollOnce(): Promise<void> {
    const started = performance.now();
    this.#schedule.begin(started);
    this.#refresh();
    try {
      const { base, hasChanges } = await pollAndPoke(this.#base, this.#parts);
      this.#base = base;
      this.#polledAt = started;
      if (this.#wokenAt !== undefined && this.#wokenAt <= started) {
        if (hasChanges) this.#recordDelay(this.#wokenAt);
        this.#wokenAt = undefined;
      }
      this.#schedule.succeed(performance.now(), hasChanges);
    } catch (error) {
      if (this.#schedule.fail()) {
        this.#options.log.warn({ error: describeError(error) }, 'The change log could not be read; pokes are delayed');
      }
      throw error;
    }
  }

  /** Runs concurrently with the poll, because reading the catalogs must not delay reading the change log. */
  #refresh(): void {
    this.#refreshing ??= this.#refresher
      .refresh()
      // Pulls report why the schema state cannot be read.
      .then(
        (subscribers) => this.#subscriptions.poke(subscribers),
        () => {},
      )
      .finally(() => {
        this.#refreshing = undefined;
      });
  }

  #recordDelay(committedAt: number): void {
    this.#options.metrics?.record('tidemark.poke.delay', (performance.now() - committedAt) / 1000);
  }
}
