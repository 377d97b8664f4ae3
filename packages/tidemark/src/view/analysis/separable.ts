import { nodeList, type QueryNode, queryNodes } from './query-tree.js';

/**
 * Checks whether a query can run for several users at once, with the columns of a row instead of its parameters. An
 * aggregate over such columns alone would belong to the outer query, and aggregate over the users. Making a query
 * deterministic can turn what it groups by into such an aggregate.
 */
export function isSeparable(query: QueryNode): boolean {
  for (const node of queryNodes(query)) {
    if (node.tag === 'GROUPINGSET') return false;
    if (node.tag === 'AGGREF' && dependsOnUser(node)) return false;
    if (groupedBy(node).some(dependsOnUser)) return false;
  }
  return true;
}

/** Since version 18, Postgres keeps the grouping expressions in a list, and the targets only refer to them. */
function groupedBy(node: QueryNode): QueryNode[] {
  const references = nodeList(node, 'groupClause').map(({ fields }) => fields.tleSortGroupRef);
  const targets = nodeList(node, 'targetList').filter(({ fields }) => references.includes(fields.ressortgroupref));
  return [...targets, ...nodeList(node, 'groupexprs')];
}

function dependsOnUser(node: QueryNode): boolean {
  for (const { tag } of queryNodes(node)) if (tag === 'PARAM') return true;
  return false;
}
