/** Which columns of a query's result its rows can be divided by. Pure. */
import { columnReadBy } from '../analysis/exactness.js';
import { targets } from '../analysis/expressions.js';
import { isNode, nodeList, type QueryNode } from '../analysis/query-tree.js';
import type { Columns, Join } from './joins.js';
import { columnOfTarget } from './resolve.js';

/** True if a query has a row even if its tables have none: all rows are one group, though it be empty. */
export function isNeverEmpty(query: QueryNode): boolean {
  const { hasAggs, havingQual } = query.fields;
  const isOneGroup = (hasAggs === 'true' || isNode(havingQual)) && nodeList(query, 'groupClause').length === 0;
  return isOneGroup || nodeList(query, 'groupingSets').length > 0;
}

/**
 * The columns of tables by which a query's rows can be restricted before it is evaluated, with the same result as after:
 * those by which it groups, chooses and numbers rows, if it does.
 */
export function outputsOf(query: QueryNode, join: Join): Columns {
  if (isNeverEmpty(query)) return [];
  const level = { query, columns: join.columns };
  const isKept = isDividing(query);
  return targets(query).map((target) => (isKept(target) ? columnOfTarget(target, level) : undefined));
}

/** The targets of a query, those of its clauses too, that all clauses divide its rows by. Empty if there is no such clause. */
export function dividingTargets(query: QueryNode): QueryNode[] {
  const [first = []] = dividingClauses(query);
  return first.filter(isDividing(query));
}

/** True of a column that all clauses divide a query's rows by. */
function isDividing(query: QueryNode): (target: QueryNode) => boolean {
  const dividing = dividingClauses(query);
  return (target) => {
    const column = columnReadBy(target, query);
    const isSame = (other: QueryNode) => {
      const read = columnReadBy(other, query);
      return other === target || (read && read.entryNumber === column?.entryNumber && read.column === column.column);
    };
    return dividing.every((targets) => targets.some(isSame));
  };
}

/** For each clause that divides rows into groups, the targets that it divides them by. */
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
