/** Decides which subscribers to poke after changes. Pure. */
import type { Snapshot } from '../protocol/snapshot.js';
import type { AffectedInput } from '../store/affected-cohorts.js';
import type { NewChanges, TableChange } from '../store/polls/new-changes.js';
import { maxMutations } from '../store/polls/observation.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { ViewParameters } from '../view/served-view.js';
import type { Cohort, Subscriber, ViewSubscribers } from './subscription-index.js';

/** Limits on the cost of questions. Beyond them, questions are less exact, or all subscribers are poked. */
export interface Bounds {
  /** The changed rows that are examined for one view. */
  readonly rows: number;
  /** Cohorts times changed rows, if the question is which rows each cohort has gained and lost. */
  readonly net: number;
  /** Cohorts times changed rows, if the question is only which cohorts see any version of the rows. */
  readonly anyVersion: number;
  /** The cohorts whose whole view is read twice. */
  readonly compare: number;
}

type Way = 'net' | 'anyVersion' | 'compare';

/** The bounds of one poll, which should take about 50 ms. */
export const quick: Bounds = { rows: 5_000, net: 10_000, anyVersion: 50_000, compare: 20 };

/** The bounds of one view that is queried separately. This takes about 500 ms, or more if not all rows are counted. */
export const thorough: Bounds = { rows: Number.POSITIVE_INFINITY, net: 200_000, anyVersion: 1_000_000, compare: 50 };

/**
 * The maximum number of views that one poll queries. If each user has a query of their own, there are as many views as
 * users.
 */
export const maxQuestions = 50;

/**
 * A question, and the current subscribers of its cohorts. The answer still applies to subscribers that move to other
 * cohorts before it arrives.
 */
export interface CohortQuestion {
  readonly view: CompiledView;
  readonly mode: AffectedInput['mode'];
  readonly cohorts: readonly { readonly parameters: ViewParameters; readonly subscribers: readonly Subscriber[] }[];
}

export interface PokePlan {
  /** Subscribers to poke without a query, because no question is both correct and cheap enough. */
  readonly subscribersToPoke: ReadonlySet<Subscriber>;
  /**
   * Questions for the database, cheapest first. The subscribers of the cohorts that the answers name are to be poked.
   */
  readonly questions: readonly CohortQuestion[];
  /** Views to query one by one in the background. */
  readonly postponedViews: readonly { readonly view: CompiledView; readonly subscribers: readonly Subscriber[] }[];
}

/** Returns false if the change log may lack changes since the base. Then all subscribers must be poked. */
export function continues(base: Snapshot, installID: string, newChanges: NewChanges): boolean {
  const isSameHistory = newChanges.installID === installID && newChanges.visibleSnapshot.xmax >= base.xmax;
  return isSameHistory && base.xmin >= newChanges.horizon;
}

/** Returns the subscribers whose client groups had mutations applied. */
export function withMutations(
  subscribers: ReadonlySet<Subscriber>,
  { groups, mutations }: NewChanges,
): ReadonlySet<Subscriber> {
  if (mutations >= maxMutations) return subscribers;
  if (groups.length === 0) return new Set();
  const owners = new Map(groups);
  const users = new Set(owners.values());
  const isAffected = ({ clientGroupID, userID }: Subscriber) =>
    clientGroupID === undefined ? users.has(userID) : owners.get(clientGroupID) === userID;
  return new Set([...subscribers].filter(isAffected));
}

export interface PlanInput {
  readonly viewSubscribers: Iterable<ViewSubscribers>;
  /** The subscribers that are poked in any case. */
  readonly alreadyPoked: ReadonlySet<Subscriber>;
  readonly newChanges: NewChanges;
  /** The change-log IDs, by OID, of the tables that views read. */
  readonly ids: ReadonlyMap<number, number>;
  readonly bounds: Bounds;
  /** The views that are still postponed because of earlier changes. */
  readonly alreadyPostponed: ReadonlySet<CompiledView>;
}

/**
 * Decides which subscribers to poke, and which questions to ask about the others. If one change undoes another, there
 * is no net difference, but a client may have pulled in between. So the plan judges a single transaction by its net
 * changes, and several transactions by the rows that they touched.
 */
export function planPokes({
  viewSubscribers,
  alreadyPoked,
  newChanges,
  ids,
  bounds,
  alreadyPostponed,
}: PlanInput): PokePlan {
  const changes = new Map(newChanges.changes.map((change) => [change.table, change]));
  const subscribersToPoke = new Set<Subscriber>();
  const costedQuestions: { readonly question: CohortQuestion; readonly share: number }[] = [];
  const postponedViews: PokePlan['postponedViews'][number][] = [];
  const remaining = { ...bounds };
  for (const { view, cohorts } of viewSubscribers) {
    const changed = seenChanges(view.occurrenceTables, ids, changes);
    const pendingCohorts = pendingCohortsOf(cohorts.values(), alreadyPoked);
    if (changed.length === 0 || pendingCohorts.length === 0) continue;
    const rows = changed.reduce((sum, change) => sum + change.rows, 0);
    const cost = {
      net: pendingCohorts.length * rows,
      anyVersion: pendingCohorts.length * rows,
      compare: pendingCohorts.length,
    };
    const fits = (way: Way, limit: Bounds) => cost[way] <= limit[way] && rows <= limit.rows;
    const ways = waysFor(view, changed);
    const way = alreadyPostponed.has(view) ? undefined : ways.find((candidate) => fits(candidate, remaining));
    if (costedQuestions.length === maxQuestions || !ways.some((candidate) => fits(candidate, thorough))) {
      for (const { subscribers } of pendingCohorts) {
        for (const subscriber of subscribers) subscribersToPoke.add(subscriber);
      }
    } else if (way === undefined) {
      postponedViews.push({ view, subscribers: pendingCohorts.flatMap(({ subscribers }) => subscribers) });
    } else {
      remaining[way] -= cost[way];
      const mode = way === 'anyVersion' ? 'anyVersion' : 'net';
      costedQuestions.push({ question: { view, mode, cohorts: pendingCohorts }, share: cost[way] / bounds[way] });
    }
  }
  const questions = costedQuestions.sort((a, b) => a.share - b.share).map(({ question }) => question);
  return { subscribersToPoke, questions, postponedViews };
}

function pendingCohortsOf(cohorts: Iterable<Cohort>, alreadyPoked: ReadonlySet<Subscriber>): CohortQuestion['cohorts'] {
  return [...cohorts]
    .map(({ parameters, subscribers }) => ({
      parameters,
      subscribers: [...subscribers].filter((one) => !alreadyPoked.has(one)),
    }))
    .filter(({ subscribers }) => subscribers.length > 0);
}

/** Returns the ways of querying a view that are correct after these changes, most exact first. */
function waysFor({ strategy, cohortView }: CompiledView, changed: readonly TableChange[]): Way[] {
  if (changed.some(({ truncated }) => truncated)) return [];
  const isOneTransaction = changed.every(({ xid }) => xid !== null && xid === changed[0]!.xid);
  if (!isOneTransaction || !cohortView) return ['anyVersion'];
  return [strategy === 'compare' ? 'compare' : 'net', 'anyVersion'];
}

function seenChanges(
  tables: readonly number[],
  ids: ReadonlyMap<number, number>,
  changes: ReadonlyMap<number, TableChange>,
): TableChange[] {
  return [...new Set(tables)].flatMap((oid) => changes.get(ids.get(oid) ?? Number.NaN) ?? []);
}
