/** SQL that reads a query's rows so that none of its expressions is evaluated more than once. */
import type { CompiledView } from './compile.js';

/**
 * A query as an item of FROM, named `v`. If the view mentions an expression several times, OFFSET 0 keeps Postgres from
 * putting it in each place; the condition stays inside, where indexes serve it.
 * @param condition an SQL condition on a row `v`
 */
export function rowsAsV({ repeatsExpressions }: CompiledView, query: string, condition?: string): string {
  const rows = `(\n${query}\n) v${condition === undefined ? '' : ` where ${condition}`}`;
  return repeatsExpressions ? `(select v.* from ${rows} offset 0) v` : rows;
}
