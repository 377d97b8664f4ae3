import { nodeList, type QueryNode, queryNodes } from './query-tree.js';

/**
 * Whether a query can be evaluated for several users at once, with the columns of a row in place of its parameters. An
 * aggregate over such columns alone would belong to the query around it, and aggregate over the users. What a query groups
 * by may become such an aggregate when it is settled.
 */
export function isSeparable(query: QueryNode): boolean {
  for (const node of queryNodes(query)) {
    if (node.tag === 'GROUPINGSET') return false;
    if (node.tag === 'AGGREF' && dependsOnUser(node)) return false;
    if (groupedBy(node).some(dependsOnUser)) return false;
  }
  return true;
}

/** From version 18 on, Postgres keeps the expressions apart, and the targets only refer to them. */
function groupedBy(node: QueryNode): QueryNode[] {
  const references = nodeList(node, 'groupClause').map(({ fields }) => fields.tleSortGroupRef);
  const targets = nodeList(node, 'targetList').filter(({ fields }) => references.includes(fields.ressortgroupref));
  return [...targets, ...nodeList(node, 'groupexprs')];
}

function dependsOnUser(node: QueryNode): boolean {
  for (const { tag } of queryNodes(node)) if (tag === 'PARAM') return true;
  return false;
}
