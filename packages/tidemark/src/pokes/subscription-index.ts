/** Indexes the subscribers to pokes by view and parameters. */
import type { SyncedTable } from '../store/patches/states.js';
import type { ResolvedView } from '../view/client-views.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { ViewParameters } from '../view/served-view.js';
import type { PokeMetrics } from './poke-metrics.js';

/** The views of a subscriber, and the schema hash of their tables when the views were resolved. */
export interface Subscription {
  readonly views: readonly ResolvedView[];
  readonly tables: readonly SyncedTable[];
  readonly schemaHash: string;
}

/** A client to poke when its client view has changed. */
export interface Subscriber {
  /** Undefined for all client groups of the user. */
  readonly clientGroupID: string | undefined;
  readonly userID: string;
  subscription: Subscription;
  /** The schema hash of all tables when the views were last resolved; undefined if the last attempt failed. */
  resolvedSchemaHash: string | undefined;
  /** Resolves the current views of the subscriber. */
  resolveViews(): Promise<Subscription>;
  /** Signals that there may be something to pull. Must not throw. */
  poke(): void;
}

/** All subscribers with the same parameters of one view. A change of the view affects all of them or none. */
export interface Cohort {
  readonly parameters: ViewParameters;
  readonly subscribers: Set<Subscriber>;
}

/** All subscribers to one view. */
export interface ViewSubscribers {
  readonly view: CompiledView;
  readonly cohorts: Map<string, Cohort>;
}

/** A server's subscribers, indexed by view and cohort. */
export class SubscriptionIndex {
  readonly #subscribers = new Set<Subscriber>();
  readonly #byView = new Map<CompiledView, ViewSubscribers>();
  /** The result of `tables`, which every poll needs. Cached until a subscriber is added or removed. */
  #tables: readonly SyncedTable[] | undefined;
  #ids: ReadonlyMap<number, number> | undefined;
  readonly #metrics: Pick<PokeMetrics, 'count'> | undefined;

  constructor(metrics?: Pick<PokeMetrics, 'count'>) {
    this.#metrics = metrics;
  }

  get size(): number {
    return this.#subscribers.size;
  }

  subscribers(): ReadonlySet<Subscriber> {
    return this.#subscribers;
  }

  all(): Iterable<ViewSubscribers> {
    return this.#byView.values();
  }

  of(view: CompiledView): ViewSubscribers | undefined {
    return this.#byView.get(view);
  }

  /** Returns the tables that the subscribers' views read, each once. */
  tables(): readonly SyncedTable[] {
    if (!this.#tables) {
      const tables = new Map<number, SyncedTable>();
      for (const { subscription } of this.#subscribers) {
        for (const table of subscription.tables) tables.set(table.id, table);
      }
      this.#tables = [...tables.values()];
    }
    return this.#tables;
  }

  /** Returns the change-log IDs, by OID, of the tables that the subscribers' views read. */
  ids(): ReadonlyMap<number, number> {
    this.#ids ??= new Map(this.tables().map(({ oid, id }) => [oid, id]));
    return this.#ids;
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    this.#forgetTables();
    for (const parameters of subscriber.subscription.views) {
      const { view, literals } = parameters;
      const viewSubscribers = this.#byView.get(view) ?? { view, cohorts: new Map<string, Cohort>() };
      this.#byView.set(view, viewSubscribers);
      const key = literals.join();
      const cohort = viewSubscribers.cohorts.get(key) ?? { parameters, subscribers: new Set() };
      viewSubscribers.cohorts.set(key, cohort);
      cohort.subscribers.add(subscriber);
    }
  }

  remove(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber)) return;
    this.#forgetTables();
    for (const { view, literals } of subscriber.subscription.views) {
      const viewSubscribers = this.#byView.get(view);
      const key = literals.join();
      const cohort = viewSubscribers?.cohorts.get(key);
      cohort?.subscribers.delete(subscriber);
      if (cohort?.subscribers.size === 0) viewSubscribers!.cohorts.delete(key);
      if (viewSubscribers?.cohorts.size === 0) this.#byView.delete(view);
    }
  }

  #forgetTables(): void {
    this.#tables = undefined;
    this.#ids = undefined;
  }

  /** Pokes the subscribers that have not unsubscribed. */
  poke(subscribers: Iterable<Subscriber>): void {
    for (const subscriber of subscribers) {
      if (!this.#subscribers.has(subscriber)) continue;
      subscriber.poke();
      this.#metrics?.count('tidemark.poke.sent');
    }
  }

  /** Replaces the subscription of a subscriber, unless it has unsubscribed. */
  update(subscriber: Subscriber, subscription: Subscription): void {
    if (!this.#subscribers.has(subscriber)) return;
    this.remove(subscriber);
    subscriber.subscription = subscription;
    this.add(subscriber);
  }
}
