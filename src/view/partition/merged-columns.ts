/** Finds the columns that FULL JOIN merges. Pure. */
import { resolvedIn } from '../analysis/exactness.js';
import {
  conjunctsIn,
  hasOwnOperator,
  isNode,
  isSameVariable,
  nodeList,
  type QueryNode,
} from '../analysis/query-tree.js';

const fullJoin = '2';

/**
 * The columns of both sides of a FULL JOIN, if an expression is COALESCE of them and the join compares them. In a row
 * that both sides have, neither is null. They come in the order of the comparison: only so does Postgres compare what
 * COALESCE is equal to with the columns of both sides (equivclass.c, reconsider_full_join_clause).
 */
export function mergedColumns(expression: QueryNode, query: QueryNode): readonly QueryNode[] {
  if (!isCoalesce(expression)) return [];
  const args = nodeList(expression, 'args');
  const conditions = isNode(query.fields.jointree) ? fullConditionsIn(query.fields.jointree) : [];
  const condition = conditions.find((one) => compares(one, args, query));
  if (!condition) return [];
  return isSameColumn(args[0]!, nodeList(condition, 'args')[0]!, query) ? args : args.toReversed();
}

/** Postgres 15 writes the tag shorter. */
export function isCoalesce({ tag }: QueryNode): boolean {
  return tag === 'COALESCEEXPR' || tag === 'COALESCE';
}

/** The conditions of the FULL JOINs in an item of FROM, taken apart at AND. */
function fullConditionsIn(item: QueryNode): QueryNode[] {
  const { jointype, quals, larg, rarg } = item.fields;
  const own = jointype === fullJoin && isNode(quals) ? [quals] : [];
  return [
    ...own.flatMap(conjunctsIn),
    ...[...nodeList(item, 'fromlist'), ...[larg, rarg].filter(isNode)].flatMap(fullConditionsIn),
  ];
}

/** True if a condition compares two columns by an operator of Postgres's own, which holds for no null. */
function compares(condition: QueryNode, columns: readonly QueryNode[], query: QueryNode): boolean {
  const args = nodeList(condition, 'args');
  return hasOwnOperator(condition) && columns.every((column) => args.some((arg) => isSameColumn(arg, column, query)));
}

/** True of two references to one column, or to columns that have been merged before. */
function isSameColumn(first: QueryNode, second: QueryNode, query: QueryNode): boolean {
  const [one, other] = [resolvedIn(query, first), resolvedIn(query, second)];
  if (isCoalesce(one) && isCoalesce(other)) {
    const others = nodeList(other, 'args');
    return nodeList(one, 'args').every((arg, i) => others[i] && isSameColumn(arg, others[i], query));
  }
  return one.tag === 'VAR' && other.tag === 'VAR' && isSameVariable(one, other);
}
