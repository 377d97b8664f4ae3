/** Finds the columns that FULL JOIN merges. Pure. */
import { resolvedIn } from '../../analysis/exactness.js';
import {
  conjunctsIn,
  hasOwnOperator,
  isNode,
  isSameVariable,
  nodeList,
  type QueryNode,
} from '../../analysis/query-tree.js';

const fullJoin = '2';

/**
 * Returns the columns of both sides of a FULL JOIN, if an expression is COALESCE of them and the join compares them. In
 * a row that both sides have, neither is null. They are in the order of the join's comparison, because only then does
 * Postgres apply a comparison with COALESCE to the columns of both sides (equivclass.c, reconsider_full_join_clause).
 */
export function mergedColumns(expression: QueryNode, query: QueryNode): readonly QueryNode[] {
  if (!isCoalesce(expression)) return [];
  const args = nodeList(expression, 'args');
  const conditions = isNode(query.fields.jointree) ? fullConditionsIn(query.fields.jointree) : [];
  const condition = conditions.find((one) => compares(one, args, query));
  if (!condition) return [];
  return isSameColumn(args[0]!, nodeList(condition, 'args')[0]!, query) ? args : args.toReversed();
}

/** Postgres 15 uses the shorter tag. */
export function isCoalesce({ tag }: QueryNode): boolean {
  return tag === 'COALESCEEXPR' || tag === 'COALESCE';
}

/** Returns the conjuncts of all FULL JOIN conditions in an item of FROM. */
function fullConditionsIn(item: QueryNode): QueryNode[] {
  const { jointype, quals, larg, rarg } = item.fields;
  const own = jointype === fullJoin && isNode(quals) ? [quals] : [];
  return [
    ...own.flatMap(conjunctsIn),
    ...[...nodeList(item, 'fromlist'), ...[larg, rarg].filter(isNode)].flatMap(fullConditionsIn),
  ];
}

/** True if a condition compares two columns by one of Postgres's own operators, which are not true for nulls. */
function compares(condition: QueryNode, columns: readonly QueryNode[], query: QueryNode): boolean {
  const args = nodeList(condition, 'args');
  return hasOwnOperator(condition) && columns.every((column) => args.some((arg) => isSameColumn(arg, column, query)));
}

/** True if two references refer to the same column, or to the same columns that an earlier join has merged. */
function isSameColumn(first: QueryNode, second: QueryNode, query: QueryNode): boolean {
  const [one, other] = [resolvedIn(query, first), resolvedIn(query, second)];
  if (isCoalesce(one) && isCoalesce(other)) {
    const others = nodeList(other, 'args');
    return nodeList(one, 'args').every((arg, i) => others[i] && isSameColumn(arg, others[i], query));
  }
  return one.tag === 'VAR' && other.tag === 'VAR' && isSameVariable(one, other);
}
