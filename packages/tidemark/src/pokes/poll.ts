import type { ChangeLogCache } from '../change-log/change-log-cache.js';
import type { ChangeLogPoller } from '../change-log/change-log-poller.js';
import type { Database } from '../db/database.js';
import type { Logger } from '../log.js';
import type { Snapshot } from '../protocol/snapshot.js';
import { disconnectsID, readDisconnected } from '../store/disconnects.js';
import { type NewChanges, readNewChanges } from '../store/polls/new-changes.js';
import type { CompiledView } from '../view/compile/compile.js';
import { askEach, logFailedQuestion } from './ask-each.js';
import type { OpenSubscriptions } from './open-subscriptions.js';
import { continues, planPokes, quick, withMutations } from './plan-pokes.js';
import type { PostponedViews } from './postponed-views.js';
import type { Subscriber, SubscriptionIndex } from './subscription-index.js';

/**
 * The time after which a poll asks no further question, and the time limit of each question. Slower questions do not
 * delay the next poll.
 */
const maxAskingMs = 500;

/** The point up to which subscribers have been poked about changes. */
export interface Base {
  readonly snapshot: Snapshot;
  readonly installID: string;
  /** The change-log cache in which this snapshot was observed. */
  readonly cache: ChangeLogCache;
}

/** The base of the next poll, and whether this poll found changes to the subscribers' tables or to client groups. */
export interface PollResult {
  readonly base: Base;
  readonly hasChanges: boolean;
}

export interface PollParts {
  readonly db: Database;
  readonly poller: ChangeLogPoller;
  readonly subscriptions: SubscriptionIndex;
  readonly postponedViews: PostponedViews;
  /** Disconnected users lose their subscriptions before any subscriber is poked. */
  readonly openSubscriptions: Pick<OpenSubscriptions, 'disconnect'>;
  readonly log: Logger;
}

/**
 * Pokes the subscribers that are affected by commits since the base. If the change-log cache shows no relevant commit,
 * reads nothing else. Otherwise reads the changes, and which subscribers they affect, in one snapshot. With two
 * snapshots, a table that changes in between would be read as if it had always been that way, and two transactions
 * could be mistaken for one.
 */
export async function pollAndPoke(base: Base | undefined, parts: PollParts): Promise<PollResult> {
  const { db, poller, subscriptions, openSubscriptions } = parts;
  const cache = await poller.poll();
  const { snapshot, installID } = cache.state;
  const tables = [...subscriptions.ids().values(), disconnectsID];
  if (!base || isQuiet(cache, base, tables)) return { base: { snapshot, installID, cache }, hasChanges: false };
  return db.inSnapshot(async (query) => {
    const newChanges = await readNewChanges({ query }, base.snapshot, tables);
    if (newChanges.changes.some(({ table }) => table === disconnectsID)) {
      openSubscriptions.disconnect(await readDisconnected(query, base.snapshot));
    }
    if (!continues(base.snapshot, base.installID, newChanges)) subscriptions.poke(subscriptions.subscribers());
    else await pokeAffected(query, base.snapshot, newChanges, parts);
    const next = { snapshot: newChanges.snapshot, installID: newChanges.installID, cache };
    return { base: next, hasChanges: newChanges.changes.length > 0 || newChanges.mutations > 0 };
  });
}

/** True if the cache shows that no commit since the base concerns these tables or any client group. */
function isQuiet(cache: ChangeLogCache, base: Base, tables: readonly number[]): boolean {
  const { snapshot } = base;
  const isKnown = cache === base.cache && cache.lists(tables) && cache.reaches(snapshot);
  return isKnown && !cache.hasMutations(snapshot) && cache.since(snapshot, tables).changed.length === 0;
}

async function pokeAffected(
  query: Database['query'],
  since: Snapshot,
  newChanges: NewChanges,
  parts: PollParts,
): Promise<void> {
  const { subscriptions, postponedViews, log } = parts;
  const alreadyPoked = new Set<Subscriber>();
  const onAffected = (subscribers: Iterable<Subscriber>) => {
    const pending = [...new Set(subscribers)].filter((subscriber) => !alreadyPoked.has(subscriber));
    for (const subscriber of pending) alreadyPoked.add(subscriber);
    subscriptions.poke(pending);
  };
  const postpone = (view: CompiledView, subscribers: readonly Subscriber[]) =>
    postponedViews.add(view, since, subscribers);
  onAffected(withMutations(subscriptions.subscribers(), newChanges));
  const plan = planPokes({
    viewSubscribers: subscriptions.all(),
    alreadyPoked,
    newChanges,
    ids: subscriptions.ids(),
    bounds: quick,
    alreadyPostponed: postponedViews.pending(),
  });
  onAffected(plan.subscribersToPoke);
  for (const { view, subscribers } of plan.postponedViews) postpone(view, subscribers);
  await askEach(
    plan.questions,
    { query, since, newChanges, tables: subscriptions.tables() },
    {
      alreadyPoked,
      limitMs: maxAskingMs,
      onAffected,
      onTimeout: postpone,
      onFailure(view, subscribers, error) {
        logFailedQuestion(log, view, error);
        onAffected(subscribers);
      },
    },
  );
}
