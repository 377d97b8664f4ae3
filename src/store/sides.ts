/** A view's rows before and after changes of its tables, as queries over the tables' states. */
import { identifier } from '../sql.js';
import type { CompiledView } from '../view/compile.js';
import { render, type Template } from '../view/parse/template.js';
import type { Stand } from '../view/rewrite.js';
import { states } from './states.js';

/**
 * The queries yield native key columns `tidemark_k1…`, the client's key, and the value as JSON text; the conditions are
 * about such a row `b`. A view's query that stands in a condition sees its columns, and would take them for rows of its
 * own that have such a name.
 */
export interface Sides {
  /** Of an incremental view, the rows that may have left it or changed; of another, all rows as of the snapshot. */
  readonly before: string;
  /** Of an incremental view, the rows that may have come or changed; of another, all rows now. */
  readonly after: string;
  /**
   * Of an incremental view, that it had the row all the same, with this value: for another reason than the one that has
   * come. Written when it is asked for: most deltas do without.
   */
  readonly wasThere: () => string;
  /** Of an incremental view, that it has the row's key all the same: for another reason than the one that has gone. */
  readonly isThere: string;
}

/**
 * Undefined when none of the view's tables has changed.
 * @param values SQL expressions for the query's parameters
 * @param ids the change-log IDs, by OID, of the tables that have changed
 */
export function sidesOf(
  view: CompiledView,
  values: readonly string[],
  ids: ReadonlyMap<number, number>,
): Sides | undefined {
  const changed = view.occurrenceTables.map((oid) => ids.get(oid));
  if (changed.every((id) => id === undefined)) return undefined;
  const asof = changed.map((id): Stand => (id === undefined ? 'now' : states.asof(id)));
  if (view.strategy === 'compare') {
    const before = rowsOf(view, view.standing(asof), values);
    return { before, after: rowsOf(view, view.now, values), wasThere: () => 'false', isThere: 'false' };
  }
  if (view.choosesByKey) {
    const touched = keysOf(view, values, ids);
    const before = chosenAt(view, touched, view.standing(asof), values);
    return { before, after: chosenAt(view, touched, view.now, values), wasThere: () => 'false', isThere: 'false' };
  }
  return {
    before: distinctByKey(view, focusedRows(view, values, ids, states.minus, states.asof)),
    after: distinctByKey(view, focusedRows(view, values, ids, states.plus)),
    wasThere: () => isIn(view, view.standing(asof), values, `${view.valueSql} = b.tidemark_value`),
    isThere: isIn(view, view.now, values),
  };
}

/**
 * The rows of an incremental view that owe themselves to a row of one state of a changed table: a query for each place
 * where the view reads such a table.
 * @param others the state of the changed tables in the other places. Default: now
 */
export function focusedRows(
  view: CompiledView,
  values: readonly string[],
  ids: ReadonlyMap<number, number>,
  state: (id: number) => string,
  others: (id: number) => Stand = () => 'now',
): string {
  const changed = view.occurrenceTables.map((oid) => ids.get(oid));
  const stands = changed.map((id): Stand => (id === undefined ? 'now' : others(id)));
  const sets = view.focusSets(changed.map((id) => id !== undefined));
  const queries = sets.map((focuses) => {
    const focused = stands.map((stand, i) => (focuses.includes(i) ? state(changed[i]!) : stand));
    return everyRowOf(view, view.standing(focused, focuses), values);
  });
  return queries.join('\nunion all\n');
}

/** The keys of all rows that have come, gone or changed. */
function keysOf(view: CompiledView, values: readonly string[], ids: ReadonlyMap<number, number>): string {
  return `select distinct ${nativeKeys(view).join(', ')} from (
    ${focusedRows(view, values, ids, states.minus, states.asof)}
    union all
    ${focusedRows(view, values, ids, states.plus)}
  ) r`;
}

/** The rows that a query has under the given keys, one for each. */
function chosenAt(view: CompiledView, keys: string, query: Template, values: readonly string[]): string {
  const sameKey = view.keyColumns.map((column, i) => `v.${identifier(column)} = c.tidemark_k${i + 1}`).join(' and ');
  const rows = `${everyRowOf(view, query, values)} where ${sameKey}`;
  return `select r.* from (${keys}) c cross join lateral (${chosen(view, rows)}) r`;
}

/**
 * OFFSET 0 has the row looked up key by key, not joined. Keys that Postgres calls equal can differ for the client: 1
 * and 1.0, or letters of a case-insensitive collation.
 */
function isIn(view: CompiledView, query: Template, values: readonly string[], also = 'true'): string {
  const sameKey = view.keyColumns.map((column, i) => `v.${identifier(column)} = b.tidemark_k${i + 1}`).join(' and ');
  return `exists (
    select from (\n${render(query, values)}\n) v where ${sameKey} and ${view.keySql} = b.tidemark_key and ${also} offset 0
  )`;
}

/** The rows of a query as native key columns `tidemark_k1…`, the client's key, and the value as JSON text. */
export function rowsOf(view: CompiledView, query: Template, values: readonly string[]): string {
  const rows = everyRowOf(view, query, values);
  return view.choosesByKey ? chosen(view, rows) : rows;
}

/** The same with all rows that share a key, where one is to be chosen. */
function everyRowOf(view: CompiledView, query: Template, values: readonly string[]): string {
  const keys = view.keyColumns.map((column, i) => `v.${identifier(column)} as tidemark_k${i + 1}`);
  return `select ${keys.join(', ')}, ${view.keySql} as tidemark_key, ${view.valueSql} as tidemark_value from (\n${render(query, values)}\n) v`;
}

/** Of rows that share a key, the least. */
function chosen(view: CompiledView, rows: string): string {
  const keys = nativeKeys(view).join(', ');
  return `select distinct on (${keys}) ${rowColumns(view)} from (\n${rows}\n) e
order by ${keys}, tidemark_key collate "C", tidemark_value collate "C"`;
}

function distinctByKey(view: CompiledView, rows: string): string {
  return `select distinct on (tidemark_key) ${rowColumns(view)} from (\n${rows}\n) r`;
}

function nativeKeys(view: CompiledView): string[] {
  return view.keyColumns.map((_, i) => `tidemark_k${i + 1}`);
}

/** The columns of a view's rows, as a list in SQL. */
export function rowColumns(view: CompiledView): string {
  return [...nativeKeys(view), 'tidemark_key', 'tidemark_value'].join(', ');
}
