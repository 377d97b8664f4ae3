/** The ops for a client whose views have been replaced by others, as queries. */
import type { ResolvedView } from '../../view/client-views.js';
import { allOf } from './checksums.js';
import { type Delta, delOp, isPut, isRemoved, pairRows, putOp } from './delta.js';
import type { InstanceChange } from './instance-change.js';
import { type SyncedTable, statesAsOf } from './states.js';
import { rowsOf } from './view-rows.js';

/** A view that a client has and must remove. */
export interface RemovedView extends ResolvedView {
  /** The readable part of it as of the snapshot: its rows, or only its keys. */
  readonly readable: 'rows' | 'keys';
}

/** The difference between a client's views and those that it should have. */
export interface ViewSetChange {
  /** For each view, its index among the client's views; undefined if the client does not have it. */
  readonly indexes: readonly (number | undefined)[];
  readonly removed: readonly RemovedView[];
  /** The views, by index, of which the client has other instances. */
  readonly instanceChanges: ReadonlyMap<number, InstanceChange>;
}

/** Returns the indexes of the views that the client does not have. */
export function addedIndexesOf({ indexes }: ViewSetChange): number[] {
  return indexes.flatMap((index, i) => (index === undefined ? [i] : []));
}

/** Returns a view that the client does not have, with all its rows, for `viewSetOps`. */
export function addedViewDelta({ view, literals }: ResolvedView, index: number): Delta {
  const rows = rowsName(index);
  return {
    queries: [`${rows} as (${rowsOf(view, view.whole, literals)})`],
    ops: [],
    weights: allOf(rows),
  };
}

/**
 * Returns ops for the rows of added views that the client does not have, and for the keys that it has of removed views.
 * If only these keys are known, any current row with such a key is put. A view that has changed is both removed and
 * added. No other view has such keys, because no two views of a client share one.
 * @param tables the changed tables, by OID
 */
export function viewSetOps(viewSetChange: ViewSetChange, tables: ReadonlyMap<number, SyncedTable>): string[] {
  const removedRows = viewSetChange.removed.map(({ view, literals, readable }) => {
    const asOf = view.variants.atStates(statesAsOf(view.occurrenceTables, tables));
    const columns = readable === 'rows' ? row : 'tidemark_key, null::text as tidemark_value';
    return `select ${columns} from (${rowsOf(view, asOf, literals)}) r`;
  });
  const addedRows = addedIndexesOf(viewSetChange).map((index) => `select ${row} from ${rowsName(index)}`);
  if (removedRows.length + addedRows.length === 0) return [];
  const pairs = pairRows(row, [], unionOf(removedRows), unionOf(addedRows));
  const op = `case when b.tidemark_after then ${putOp} else ${delOp} end`;
  return [`select ${op} from (${pairs}) b where ${isPut} or ${isRemoved}`];
}

const row = 'tidemark_key, tidemark_value';

function unionOf(rows: readonly string[]): string {
  const none = `select null::text as tidemark_key, null::text as tidemark_value where false`;
  return `(${rows.length > 0 ? rows.join(' union all ') : none}) r`;
}

function rowsName(index: number): string {
  return `tidemark_rows_${index}`;
}
