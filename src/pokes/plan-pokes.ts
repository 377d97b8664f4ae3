/** Decides which listeners to poke about what has been committed. Pure. */
import type { Snapshot } from '../protocol/snapshot.js';
import type { Question } from '../store/affected.js';
import { mostMutations } from '../store/header.js';
import type { TailBatch, TailChange } from '../store/tail.js';
import type { CompiledView } from '../view/compile/compile.js';
import type { ViewParameters } from '../view/served-view.js';
import type { Audience, Listener, Seat } from './audiences.js';

/** How much is asked. Beyond these bounds, less exact questions are asked, or all listeners are poked. */
export interface Bounds {
  /** The changed rows that are looked at for one view. */
  readonly rows: number;
  /** Seats times changed rows, if the question is what each seat has gained and lost. */
  readonly net: number;
  /** Seats times changed rows, if the question is only which seats see any of the rows. */
  readonly ever: number;
  /** The seats whose whole view is read twice. */
  readonly compare: number;
}

type Way = 'net' | 'ever' | 'compare';

/** The bounds of one look, which should take some 50 ms. */
export const quick: Bounds = { rows: 5_000, net: 10_000, ever: 50_000, compare: 20 };

/**
 * The bounds of one view that is asked about separately: some 500 ms, and more if there are more rows than are counted.
 */
export const thorough: Bounds = { rows: Number.POSITIVE_INFINITY, net: 200_000, ever: 1_000_000, compare: 50 };

/**
 * How many views are asked about in one look, at most: if each user has a query of their own, there are as many views
 * as users.
 */
export const mostQuestions = 50;

/**
 * A question, and the listeners in its seats now: the answer still applies to listeners that move to other seats before
 * it comes.
 */
export interface SeatedQuestion {
  readonly view: CompiledView;
  readonly mode: Question['mode'];
  readonly seats: readonly { readonly parameters: ViewParameters; readonly listeners: readonly Listener[] }[];
}

export interface PokePlan {
  /** Listeners to poke without asking: no question is both right and cheap enough. */
  readonly poked: ReadonlySet<Listener>;
  /**
   * Questions for the database, the cheapest first; the listeners in the seats that the answers name are to be poked.
   */
  readonly questions: readonly SeatedQuestion[];
  /** Views to ask about one by one, where nobody waits for the answer. */
  readonly postponed: readonly { readonly view: CompiledView; readonly listeners: readonly Listener[] }[];
}

/**
 * False if the change log may not hold everything that has happened since the base: then all listeners must be poked.
 */
export function continues(base: Snapshot, installID: string, batch: TailBatch): boolean {
  const isSameHistory = batch.installID === installID && batch.shown.xmax >= base.xmax;
  return isSameHistory && base.xmin >= batch.horizon;
}

/** The listeners whose client groups had mutations applied. */
export function withMutations(
  listeners: ReadonlySet<Listener>,
  { groups, mutations }: TailBatch,
): ReadonlySet<Listener> {
  if (mutations >= mostMutations) return listeners;
  if (groups.length === 0) return new Set();
  const owners = new Map(groups);
  const users = new Set(owners.values());
  const isTold = ({ clientGroupID, userID }: Listener) =>
    clientGroupID === undefined ? users.has(userID) : owners.get(clientGroupID) === userID;
  return new Set([...listeners].filter(isTold));
}

export interface PlanInput {
  readonly audiences: Iterable<Audience>;
  /** The listeners that are poked in any case. */
  readonly told: ReadonlySet<Listener>;
  readonly batch: TailBatch;
  /** The change-log IDs, by OID, of the tables that views read. */
  readonly ids: ReadonlyMap<number, number>;
  readonly bounds: Bounds;
  /** Whether a view has yet to be asked about because of earlier changes. */
  readonly isPostponed: (view: CompiledView) => boolean;
}

/**
 * Decides which listeners to poke, and what to ask about the others. If one change undoes another, there is no
 * difference in the end, and yet a client may have pulled in between. So only a single transaction is judged by what it
 * has changed; several are judged by what they have touched.
 */
export function planPokes({ audiences, told, batch, ids, bounds, isPostponed }: PlanInput): PokePlan {
  const changes = new Map(batch.changes.map((change) => [change.table, change]));
  const poked = new Set<Listener>();
  const asked: { readonly question: SeatedQuestion; readonly share: number }[] = [];
  const postponed: PokePlan['postponed'][number][] = [];
  const left = { ...bounds };
  for (const { view, seats } of audiences) {
    const changed = seenChanges(view.occurrenceTables, ids, changes);
    const waiting = waitingOn(seats.values(), told);
    if (changed.length === 0 || waiting.length === 0) continue;
    const rows = changed.reduce((sum, change) => sum + change.rows, 0);
    const cost = { net: waiting.length * rows, ever: waiting.length * rows, compare: waiting.length };
    const fits = (way: Way, most: Bounds) => cost[way] <= most[way] && rows <= most.rows;
    const ways = waysFor(view, changed);
    const way = isPostponed(view) ? undefined : ways.find((candidate) => fits(candidate, left));
    if (asked.length === mostQuestions || !ways.some((candidate) => fits(candidate, thorough))) {
      for (const { listeners } of waiting) for (const listener of listeners) poked.add(listener);
    } else if (way === undefined) {
      postponed.push({ view, listeners: waiting.flatMap(({ listeners }) => listeners) });
    } else {
      left[way] -= cost[way];
      const mode = way === 'ever' ? 'ever' : 'net';
      asked.push({ question: { view, mode, seats: waiting }, share: cost[way] / bounds[way] });
    }
  }
  const questions = asked.sort((a, b) => a.share - b.share).map(({ question }) => question);
  return { poked, questions, postponed };
}

function waitingOn(seats: Iterable<Seat>, told: ReadonlySet<Listener>): SeatedQuestion['seats'] {
  return [...seats]
    .map(({ parameters, listeners }) => ({ parameters, listeners: [...listeners].filter((one) => !told.has(one)) }))
    .filter(({ listeners }) => listeners.length > 0);
}

/** The ways of asking about a view that are right after these changes, the most exact first. */
function waysFor({ strategy, seated }: CompiledView, changed: readonly TailChange[]): Way[] {
  if (changed.some(({ truncated }) => truncated)) return [];
  const isOneTransaction = changed.every(({ xid }) => xid !== null && xid === changed[0]!.xid);
  if (!isOneTransaction || !seated) return ['ever'];
  return [strategy === 'compare' ? 'compare' : 'net', 'ever'];
}

function seenChanges(
  tables: readonly number[],
  ids: ReadonlyMap<number, number>,
  changes: ReadonlyMap<number, TailChange>,
): TailChange[] {
  return [...new Set(tables)].flatMap((oid) => changes.get(ids.get(oid) ?? Number.NaN) ?? []);
}
