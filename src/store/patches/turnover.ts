/** What becomes of a client whose views are others than those that it holds, as queries for ops. */
import type { BoundView } from '../../view/client-views.js';
import { allOf } from './checksums.js';
import { type Delta, delOp, isGone, isPut, paired, putOp } from './delta.js';
import { rowsOf } from './sides.js';
import { type SyncedTable, states } from './states.js';

/** A view that a client has, and is not to have any more. */
export interface GoneView extends BoundView {
  /** What can be told of it as of the snapshot: its rows, or its keys alone. */
  readonly told: 'rows' | 'keys';
}

/** Which views of a client have been replaced. */
export interface Turnover {
  /** For each view: where it was among those of the client; undefined if the client does not have it. */
  readonly places: readonly (number | undefined)[];
  readonly gone: readonly GoneView[];
}

/** Which views the client does not have, by their indexes. */
export function enteredIn({ places }: Turnover): number[] {
  return places.flatMap((place, i) => (place === undefined ? [i] : []));
}

/** A view that the client does not have: all its rows, for `turnoverOps`. */
export function enteredOf({ view, literals }: BoundView, index: number): Delta {
  const rows = rowsName(index);
  return {
    queries: [`${rows} as (${rowsOf(view, view.whole, literals)})`],
    ops: [],
    weights: () => allOf(rows),
  };
}

/**
 * Ops for what the views that the client does not have show, and it does not hold; and for the keys that it holds of views
 * that are gone. Where only these keys are known, whatever has one of them now is put. A view that has changed is one of
 * each. No other view has such keys, since no two views of a client share one.
 * @param tables those that have changed, by OID
 */
export function turnoverOps(turnover: Turnover, tables: ReadonlyMap<number, SyncedTable>): string[] {
  const held = turnover.gone.map(({ view, literals, told }) => {
    const changed = view.occurrenceTables.map((oid) => tables.get(oid)?.id);
    const asof = view.standing(changed.map((id) => (id === undefined ? 'now' : states.asof(id))));
    const columns = told === 'rows' ? row : 'tidemark_key, null::text as tidemark_value';
    return `select ${columns} from (${rowsOf(view, asof, literals)}) r`;
  });
  const entered = enteredIn(turnover).map((index) => `select ${row} from ${rowsName(index)}`);
  if (held.length + entered.length === 0) return [];
  const pairs = paired(row, [], all(held), all(entered));
  const op = `case when b.tidemark_after then ${putOp} else ${delOp} end`;
  return [`select ${op} from (${pairs}) b where ${isPut} or ${isGone}`];
}

const row = 'tidemark_key, tidemark_value';

function all(rows: readonly string[]): string {
  const none = `select null::text as tidemark_key, null::text as tidemark_value where false`;
  return `(${rows.length > 0 ? rows.join(' union all ') : none}) r`;
}

function rowsName(index: number): string {
  return `tidemark_rows_${index}`;
}
