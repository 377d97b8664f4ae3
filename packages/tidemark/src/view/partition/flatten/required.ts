/** Finds the parts of FROM in which each row of a query's result requires a row. Pure. */
import type { Meaning } from '../../analysis/meaning.js';
import { hasOwnOperator, type QueryNode } from '../../analysis/query-tree.js';
import { conjuncts } from '../../parse/conditions.js';
import type { Tree } from '../../parse/tree.js';
import { isComparison } from './conditions.js';
import { entryOf } from './resolve.js';

/** Returns the entries in which each result row requires a row. An outer join that can null them acts as inner. */
export function requiredEntries(
  { fromClause, whereClause }: Tree,
  query: QueryNode,
  meaning: Meaning,
): ReadonlySet<number> {
  const conditions = [whereClause, ...((fromClause ?? []) as Tree[]).flatMap(innerConditions)];
  return new Set(conditions.flatMap((condition) => comparedEntries(condition, query, meaning)));
}

/** Returns the entries whose columns a condition's conjuncts compare. No such conjunct is true if they are null. */
export function comparedEntries(condition: unknown, query: QueryNode, meaning: Meaning): number[] {
  return conjuncts(condition).flatMap((part) => {
    const { A_Expr: compared, NullTest: tested } = part as { A_Expr?: Tree; NullTest?: Tree };
    const isNotNull = tested?.nulltesttype === 'IS_NOT_NULL' ? [tested.arg] : [];
    const sides = compared && isStrict(compared, meaning) ? [compared.lexpr, compared.rexpr] : isNotNull;
    const columns = sides.flatMap((side) => (side as Tree | undefined)?.ColumnRef ?? []) as Tree[];
    return columns.flatMap((node) => entryOf(node, meaning, query) ?? []);
  });
}

/** Returns the conditions of inner joins in a FROM item, except on the side that an outer join can fill with nulls. */
function innerConditions(item: Tree): unknown[] {
  const { jointype, larg, rarg, quals } = (item.JoinExpr ?? {}) as Record<string, Tree>;
  if (!jointype) return [];
  const left = (jointype as unknown) === 'JOIN_RIGHT' ? [] : innerConditions(larg!);
  const right = (jointype as unknown) === 'JOIN_LEFT' ? [] : innerConditions(rarg!);
  if ((jointype as unknown) === 'JOIN_FULL') return [];
  return [...left, ...right, ...((jointype as unknown) === 'JOIN_INNER' ? [quals] : [])];
}

/** True if a comparison uses one of Postgres's own operators, none of which is true for a null. */
function isStrict(compared: Tree, meaning: Meaning): boolean {
  const isOwn = meaning.nodesOf(compared).some(hasOwnOperator);
  return isOwn && isComparison(compared) && !/DISTINCT/.test(compared.kind as string);
}
