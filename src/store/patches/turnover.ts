/** What becomes of a client whose views are others than those that it holds, as queries for ops. */
import type { BoundView } from '../../view/client-views.js';
import { allOf } from './checksums.js';
import { type Delta, delOp, putOp } from './delta.js';
import { rowsOf } from './sides.js';
import { states } from './states.js';

/** Which views of a client have been replaced. */
export interface Turnover {
  /** For each view: where it was among those of the client; undefined if the client does not have it. */
  readonly places: readonly (number | undefined)[];
  /** The views that the client has, and is not to have any more. */
  readonly gone: readonly BoundView[];
}

/** Which views the client does not have, by their indexes. */
export function enteredIn({ places }: Turnover): number[] {
  return places.flatMap((place, i) => (place === undefined ? [i] : []));
}

/** All rows of a view that the client does not have. */
export function enteredOf({ view, literals }: BoundView, index: number): Delta {
  const rows = rowsName(index);
  return {
    queries: [`${rows} as materialized (${rowsOf(view, view.whole, literals)})`],
    ops: [`select ${putOp} from ${rows} b`],
    weights: () => allOf(rows),
  };
}

/**
 * Ops for the keys that the client has of the views that are gone, unless a view that it does not have yet has them: a
 * view that has changed is one of each. No other view has such keys, since no two views of a client share one.
 * @param ids the change-log IDs, by OID, of the tables that have changed
 */
export function goneOps(turnover: Turnover, ids: ReadonlyMap<number, number>): string[] {
  const held = turnover.gone.map(({ view, literals }) => {
    const changed = view.occurrenceTables.map((oid) => ids.get(oid));
    const asof = view.standing(changed.map((id) => (id === undefined ? 'now' : states.asof(id))));
    return keysOf(`(${rowsOf(view, asof, literals)}) r`);
  });
  if (held.length === 0) return [];
  const entered = enteredIn(turnover).map((index) => `except ${keysOf(rowsName(index))}`);
  return [`select ${delOp} from ((${held.join(' union all ')})\n${entered.join('\n')}) b`];
}

function keysOf(rows: string): string {
  return `select tidemark_key collate "C" as tidemark_key from ${rows}`;
}

function rowsName(index: number): string {
  return `tidemark_rows_${index}`;
}
