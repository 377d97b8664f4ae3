/** Finds the columns of a query's result by which its rows can be divided. Pure. */
import { columnReadBy } from '../../analysis/exactness.js';
import { targets } from '../../analysis/expressions.js';
import { isNode, nodeList, type QueryNode } from '../../analysis/query-tree.js';
import type { Columns, Join } from './joins.js';
import { columnOfTarget } from './resolve.js';

/** True if a query has a row even if its tables have none, because all rows form one group that may be empty. */
export function isNeverEmpty(query: QueryNode): boolean {
  const { hasAggs, havingQual } = query.fields;
  const isOneGroup = (hasAggs === 'true' || isNode(havingQual)) && nodeList(query, 'groupClause').length === 0;
  return isOneGroup || nodeList(query, 'groupingSets').length > 0;
}

/**
 * Returns the columns of tables by which a query's rows can be restricted before it is evaluated, with the same result
 * as afterwards. If it groups, chooses or numbers rows, these are the columns by which it does so.
 */
export function outputsOf(query: QueryNode, join: Join): Columns {
  if (isNeverEmpty(query)) return [];
  const level = { query, columns: join.columns };
  const clauses = dividingClauses(query);
  return targets(query).map((target) =>
    isDividing(target, clauses, query) ? columnOfTarget(target, level) : undefined,
  );
}

/** Returns the targets by which all clauses divide a query's rows, in the result or not; none without such a clause. */
export function dividingTargets(query: QueryNode): QueryNode[] {
  const clauses = dividingClauses(query);
  const [first = []] = clauses;
  return first.filter((target) => isDividing(target, clauses, query));
}

/** True if all clauses divide a query's rows by a target; see `dividingClauses`. */
function isDividing(target: QueryNode, clauses: readonly (readonly QueryNode[])[], query: QueryNode): boolean {
  const column = columnReadBy(target, query);
  const isSame = (other: QueryNode) => {
    const read = columnReadBy(other, query);
    return other === target || (read && read.entryNumber === column?.entryNumber && read.column === column.column);
  };
  return clauses.every((targets) => targets.some(isSame));
}

/** Returns the targets by which each clause divides rows, for all clauses that divide them into groups. */
function dividingClauses(query: QueryNode): QueryNode[][] {
  const by = (clause: readonly QueryNode[]) => {
    const references = clause.map(({ fields }) => fields.tleSortGroupRef);
    return nodeList(query, 'targetList').filter(({ fields }) => references.includes(fields.ressortgroupref));
  };
  const groups = nodeList(query, 'groupClause');
  const chosen = query.fields.hasDistinctOn === 'true' ? nodeList(query, 'distinctClause') : [];
  return [
    ...[groups, chosen].filter(({ length }) => length > 0).map(by),
    ...nodeList(query, 'windowClause').map((window) => by(nodeList(window, 'partitionClause'))),
  ];
}
