import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.js';
import type { Logger } from '../log.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { readNewChanges } from '../store/polls/new-changes.js';
import type { CompiledView } from '../view/compile/compile.js';
import { askEach, logFailedQuestion } from './ask-each.js';
import { planPokes, thorough } from './plan-pokes.js';
import type { Cohort, Subscriber, SubscriptionIndex, ViewSubscribers } from './subscription-index.js';

/**
 * The maximum time for an answer; then all subscribers are poked. After a bulk change, the pull of each client that is
 * poked unnecessarily takes longer than this.
 */
export const maxWaitMs = 3_000;
const maxRestMs = 1_000;

export interface PostponedViewsOptions {
  readonly db: Database;
  readonly subscriptions: SubscriptionIndex;
  readonly log: Logger;
}

interface PostponedView {
  /** The snapshot up to which the view's changes have been processed. */
  readonly since: Snapshot;
  readonly subscribers: Set<Subscriber>;
  readonly deadline: number;
}

/**
 * Views that take long to query. Queries them one after the other, each in its own snapshot, while polls continue. In
 * the end, every affected subscriber has been poked.
 */
export class PostponedViews {
  readonly #options: PostponedViewsOptions;
  readonly #queue = new Map<CompiledView, PostponedView>();
  #current: CompiledView | undefined;
  #isBusy = false;

  constructor(options: PostponedViewsOptions) {
    this.#options = options;
  }

  /** Returns the views whose subscribers have not all been poked yet. */
  pending(): ReadonlySet<CompiledView> {
    return new Set([...this.#queue.keys(), ...(this.#current ? [this.#current] : [])]);
  }

  /** @param subscribers all subscribers to the view that have not been poked since the snapshot */
  add(view: CompiledView, since: Snapshot, subscribers: readonly Subscriber[]): void {
    const postponedView = this.#queue.get(view) ?? {
      since,
      subscribers: new Set(),
      deadline: performance.now() + maxWaitMs,
    };
    for (const subscriber of subscribers) postponedView.subscribers.add(subscriber);
    this.#queue.set(view, postponedView);
    if (!this.#isBusy) void this.#work();
  }

  clear(): void {
    this.#queue.clear();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    // This includes views that are added in the meantime.
    for (const [view, postponedView] of this.#queue) {
      this.#queue.delete(view);
      this.#current = view;
      const started = performance.now();
      await this.#process(view, postponedView);
      this.#current = undefined;
      const restMs = Math.min(2 * (performance.now() - started), maxRestMs);
      await sleep(restMs, undefined, { ref: false });
    }
    this.#isBusy = false;
  }

  async #process(view: CompiledView, postponedView: PostponedView): Promise<void> {
    const { subscriptions, log } = this.#options;
    const viewSubscribers = copyViewSubscribers(subscriptions, view);
    const currentSubscribers = new Set(
      [...viewSubscribers.cohorts.values()].flatMap(({ subscribers }) => [...subscribers]),
    );
    // The query does not cover subscribers that have since left the view's cohorts, so they are poked.
    subscriptions.poke([...postponedView.subscribers].filter((subscriber) => !currentSubscribers.has(subscriber)));
    const limitMs = Math.ceil(postponedView.deadline - performance.now());
    if (limitMs <= 0) return subscriptions.poke(currentSubscribers);
    await this.#ask(viewSubscribers, postponedView, limitMs).catch((error: unknown) => {
      logFailedQuestion(log, view, error);
      subscriptions.poke(currentSubscribers);
    });
  }

  #ask(viewSubscribers: ViewSubscribers, { since }: PostponedView, limitMs: number): Promise<void> {
    const { db, subscriptions, log } = this.#options;
    return db.inSnapshot(async (query) => {
      const ids = subscriptions.ids();
      const newChanges = await readNewChanges({ query }, since, [...ids.values()]);
      const { subscribersToPoke: alreadyPoked, questions } = planPokes({
        viewSubscribers: [viewSubscribers],
        alreadyPoked: new Set(),
        newChanges,
        ids,
        bounds: thorough,
        alreadyPostponed: new Set(),
      });
      subscriptions.poke(alreadyPoked);
      await askEach(
        questions,
        { query, since, newChanges, tables: subscriptions.tables() },
        {
          alreadyPoked,
          limitMs,
          onAffected: (subscribers) => subscriptions.poke(subscribers),
          onTimeout: (_, subscribers) => subscriptions.poke(subscribers),
          onFailure(view, subscribers, error) {
            logFailedQuestion(log, view, error);
            subscriptions.poke(subscribers);
          },
        },
      );
    });
  }
}

/** Copies a view's current subscribers. The copy does not change when subscribers move during the query. */
function copyViewSubscribers(subscriptions: SubscriptionIndex, view: CompiledView): ViewSubscribers {
  const cohorts = subscriptions.of(view)?.cohorts ?? new Map<string, Cohort>();
  const copies = [...cohorts].map(
    ([key, cohort]) => [key, { ...cohort, subscribers: new Set(cohort.subscribers) }] as const,
  );
  return { view, cohorts: new Map(copies) };
}
