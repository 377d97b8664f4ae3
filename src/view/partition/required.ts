/** Which parts of FROM a row of a query's result needs a row of. Pure. */
import type { Meaning } from '../analysis/meaning.js';
import { hasOwnOperator, type QueryNode } from '../analysis/query-tree.js';
import { conjuncts } from '../parse/conditions.js';
import type { Tree } from '../parse/tree.js';
import { isComparison } from './conditions.js';
import { entryOf } from './resolve.js';

/** The entries that a row of the result needs a row of: an outer join that may fill them with nulls is an inner join. */
export function requiredEntries(
  { fromClause, whereClause }: Tree,
  query: QueryNode,
  meaning: Meaning,
): ReadonlySet<number> {
  const conditions = [whereClause, ...((fromClause ?? []) as Tree[]).flatMap(innerConditions)];
  return new Set(conditions.flatMap((condition) => comparedEntries(condition, query, meaning)));
}

/** The entries whose columns the conjuncts of a condition compare: none of them holds where they are null. */
export function comparedEntries(condition: unknown, query: QueryNode, meaning: Meaning): number[] {
  return conjuncts(condition).flatMap((part) => {
    const { A_Expr: compared, NullTest: tested } = part as { A_Expr?: Tree; NullTest?: Tree };
    const isNotNull = tested?.nulltesttype === 'IS_NOT_NULL' ? [tested.arg] : [];
    const sides = compared && isStrict(compared, meaning) ? [compared.lexpr, compared.rexpr] : isNotNull;
    const columns = sides.flatMap((side) => (side as Tree | undefined)?.ColumnRef ?? []) as Tree[];
    return columns.flatMap((node) => entryOf(node, meaning, query) ?? []);
  });
}

/** The conditions of a FROM item that all rows meet, of which no other side of an outer join is filled with nulls. */
function innerConditions(item: Tree): unknown[] {
  const { jointype, larg, rarg, quals } = (item.JoinExpr ?? {}) as Record<string, Tree>;
  if (!jointype) return [];
  const left = (jointype as unknown) === 'JOIN_RIGHT' ? [] : innerConditions(larg!);
  const right = (jointype as unknown) === 'JOIN_LEFT' ? [] : innerConditions(rarg!);
  if ((jointype as unknown) === 'JOIN_FULL') return [];
  return [...left, ...right, ...((jointype as unknown) === 'JOIN_INNER' ? [quals] : [])];
}

/** True if a comparison is one of Postgres's own, none of which holds for a null. */
function isStrict(compared: Tree, meaning: Meaning): boolean {
  const isOwn = meaning.nodesOf(compared).some(hasOwnOperator);
  return isOwn && isComparison(compared) && !/DISTINCT/.test(compared.kind as string);
}
