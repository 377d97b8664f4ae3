/** Whom to poke for what has been committed. Pure. */
import type { Question } from '../store/affected.js';
import { type TailBatch, type TailChange, tailedRows } from '../store/tail.js';
import type { CompiledView } from '../view/compile.js';
import type { Audience, Listener, Seat } from './audiences.js';

export interface PokePlan {
  /** To poke without asking: their mutations were applied, or asking would cost too much. */
  readonly poked: ReadonlySet<Listener>;
  /** To ask the database; the listeners of the seats that the answer names are to be poked. */
  readonly questions: readonly { readonly question: Question; readonly seats: readonly Seat[] }[];
}

/** How much is asked in one look, which is to take some 50 ms at most; beyond, an audience is poked without asking. */
export const afforded = {
  /** Seats times changed rows, where each is looked at for what it has gained and lost. */
  net: 10_000,
  /** Seats times changed rows, where it is only asked who sees any of them. */
  ever: 200_000,
  /** Seats whose whole view is read twice. */
  compare: 50,
} as const;

/** So many views are asked about in one look: where each user has a query of their own, there are as many views as users. */
export const mostQuestions = 50;

/**
 * A change that another one takes back shows no difference in the end, and yet somebody may have pulled in between. So only a
 * single transaction is judged by what it has changed; several, by what they have touched.
 *
 * @param ids the IDs in the change log, by OID, of the tables that views read
 */
export function planPokes(
  audiences: Iterable<Audience>,
  everybody: ReadonlySet<Listener>,
  batch: TailBatch,
  ids: ReadonlyMap<number, number>,
): PokePlan {
  if (batch.mutations >= tailedRows) return { poked: everybody, questions: [] };
  const poked = new Set<Listener>(withMutations(everybody, batch));
  const changes = new Map(batch.changes.map((change) => [change.table, change]));
  const questions: PokePlan['questions'][number][] = [];
  const left: Record<keyof typeof afforded, number> = { ...afforded };
  for (const { view, seats } of audiences) {
    const changed = changesOf(view.occurrenceTables, ids, changes);
    const waiting = [...seats.values()].filter(({ listeners }) => ![...listeners].every((one) => poked.has(one)));
    if (changed.length === 0 || waiting.length === 0) continue;
    const rows = changed.reduce((sum, change) => sum + change.rows, 0);
    const cost = { net: waiting.length * rows, ever: waiting.length * rows, compare: waiting.length };
    const way = waysFor(view, changed).find((candidate) => cost[candidate] <= left[candidate]);
    if (way === undefined || questions.length === mostQuestions) {
      for (const { listeners } of waiting) for (const listener of listeners) poked.add(listener);
    } else {
      left[way] -= cost[way];
      const mode = way === 'ever' ? 'ever' : 'net';
      questions.push({ question: { view, mode, seats: waiting.map(({ literals }) => literals) }, seats: waiting });
    }
  }
  return { poked, questions };
}

/** The ways to ask about a view that are right after these changes, the most exact first. */
function waysFor({ strategy }: CompiledView, changed: readonly TailChange[]): (keyof typeof afforded)[] {
  if (changed.some(({ truncated }) => truncated)) return [];
  const isOneTransaction = changed.every(({ xid }) => xid !== null && xid === changed[0]!.xid);
  if (strategy === 'compare') return isOneTransaction ? ['compare'] : [];
  return isOneTransaction ? ['net', 'ever'] : ['ever'];
}

function withMutations(listeners: ReadonlySet<Listener>, { groups }: TailBatch): Listener[] {
  if (groups.length === 0) return [];
  const owners = new Map(groups);
  return [...listeners].filter(({ clientGroupID, userID }) => owners.get(clientGroupID) === userID);
}

function changesOf(
  tables: readonly number[],
  ids: ReadonlyMap<number, number>,
  changes: ReadonlyMap<number, TailChange>,
): TailChange[] {
  return [...new Set(tables)].flatMap((oid) => changes.get(ids.get(oid) ?? Number.NaN) ?? []);
}
