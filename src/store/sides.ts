/** A view's rows before and after changes of its tables, as queries over the tables' states. */
import { identifier } from '../sql.js';
import type { CompiledView } from '../view/compile.js';
import type { Stand } from '../view/rewrite.js';
import { render, type Template } from '../view/syntax.js';
import { states } from './states.js';

/** Each query yields native key columns `k1…`, the client's key, and the value as JSON text. */
export interface Sides {
  /** Of an incremental view, the rows that may have left it or changed; of another, all rows as of the snapshot. */
  readonly before: string;
  /** Of an incremental view, the rows that may have come or changed; of another, all rows now. */
  readonly after: string;
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
  const standing = (stands: Stand[], focus?: number) => rowsOf(view, view.standing(stands, focus), values);
  const asof = changed.map((id): Stand => (id === undefined ? 'now' : states.asof(id)));
  if (view.strategy === 'compare') return { before: standing(asof), after: rowsOf(view, view.now, values) };

  const focuses = changed.flatMap((id, focus) => (id === undefined ? [] : [{ id, focus }]));
  const now = asof.map((): Stand => 'now');
  const affected = (stand: (id: number) => string, others: Stand[]) =>
    distinctByKey(
      view,
      focuses.map(({ id, focus }) => standing(others.with(focus, stand(id)), focus)),
    );
  return { before: affected(states.minus, asof), after: affected(states.plus, now) };
}

/**
 * The condition that the row `b` before is in an incremental view now: one that lost a reason to be in it may have another.
 * OFFSET 0 has it looked up key by key, not joined. Keys that Postgres calls equal can differ for the client: 1 and 1.0, or letters
 * of a case-insensitive collation.
 */
export function isInViewNow(view: CompiledView, values: readonly string[]): string {
  const sameKey = view.keyColumns.map((column, i) => `v.${identifier(column)} = b.k${i + 1}`).join(' and ');
  return `exists (select from (\n${render(view.now, values)}\n) v where ${sameKey} and ${view.keySql} = b.key offset 0)`;
}

/** The rows of a query as native key columns `k1…`, the client's key, and the value as JSON text. */
export function rowsOf(view: CompiledView, query: Template, values: readonly string[]): string {
  const keys = view.keyColumns.map((column, i) => `v.${identifier(column)} as k${i + 1}`);
  return `select ${keys.join(', ')}, ${view.keySql} as key, ${view.valueSql} as value from (\n${render(query, values)}\n) v`;
}

function distinctByKey(view: CompiledView, queries: readonly string[]): string {
  const keys = view.keyColumns.map((_, i) => `k${i + 1}`);
  return `select distinct on (key) ${keys.join(', ')}, key, value from (\n${queries.join('\nunion all\n')}\n) r`;
}
