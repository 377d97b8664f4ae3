import { type QueryNode, queryNodes } from './query-tree.js';

/**
 * Whether a query can be evaluated for several users at once, with the columns of a row in place of its parameters. An
 * aggregate over such columns alone would belong to the query around it, and aggregate over the users.
 */
export function isSeparable(query: QueryNode): boolean {
  for (const node of queryNodes(query)) {
    if (node.tag === 'GROUPINGSET') return false;
    if (node.tag !== 'AGGREF') continue;
    for (const { tag } of queryNodes(node)) if (tag === 'PARAM') return false;
  }
  return true;
}
