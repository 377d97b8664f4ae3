/** SQL that reads a query's rows without evaluating any of its expressions more than once. */
import type { CompiledView } from './compile.js';

/**
 * Returns a query as an item of FROM, named `v`. If the view mentions an expression several times, OFFSET 0 keeps
 * Postgres from copying the expression to each mention. The condition stays inside, where it can use indexes.
 * @param condition an SQL condition on a row `v`
 */
export function rowsAsV({ repeatsExpressions }: CompiledView, query: string, condition?: string): string {
  const rows = `(\n${query}\n) v${condition === undefined ? '' : ` where ${condition}`}`;
  return repeatsExpressions ? `(select v.* from ${rows} offset 0) v` : rows;
}
