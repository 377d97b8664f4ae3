/** Whom to poke for what has been committed. Pure. */
import type { Question } from '../store/affected.js';
import { type TailBatch, type TailChange, tailedRows } from '../store/tail.js';
import type { Audience, Listener, Seat } from './audiences.js';

export interface PokePlan {
  /** To poke without asking: their mutations were applied, or asking would cost too much. */
  readonly poked: ReadonlySet<Listener>;
  /** To ask the database; the listeners of the seats that the answer names are to be poked. */
  readonly questions: readonly { readonly question: Question; readonly seats: readonly Seat[] }[];
}

/** So many pairs of a seat and a changed row are looked at in one statement, some 50 ms. Beyond, the whole audience is poked. */
export const affordedPairs = 20_000;
/** So often is a view of the strategy compare read in one statement. */
export const affordedComparisons = 50;

/** @param ids the IDs in the change log, by OID, of the tables that views read */
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
  let pairs = 0;
  let comparisons = 0;
  for (const { view, seats } of audiences) {
    const changed = changesOf(view.occurrenceTables, ids, changes);
    if (changed.length === 0) continue;
    const waiting = [...seats.values()].filter(({ listeners }) => ![...listeners].every((one) => poked.has(one)));
    const mode = changed.every(({ xid }) => xid !== null && xid === changed[0]!.xid) ? 'net' : 'ever';
    const rows = changed.reduce((sum, change) => sum + change.rows, 0);
    if (view.strategy === 'compare') comparisons += waiting.length;
    else pairs += waiting.length * rows;
    const isAfforded =
      view.strategy === 'compare' ? mode === 'net' && comparisons <= affordedComparisons : pairs <= affordedPairs;
    if (isAfforded && changed.every(({ truncated }) => !truncated)) {
      questions.push({ question: { view, mode, seats: waiting.map(({ literals }) => literals) }, seats: waiting });
    } else {
      for (const { listeners } of waiting) for (const listener of listeners) poked.add(listener);
    }
  }
  return { poked, questions: questions.filter(({ seats }) => seats.length > 0) };
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
