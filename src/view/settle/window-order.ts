/** Whether a window's order leaves nothing open. */
import { originOf } from '../analysis/exactness.js';
import { isNode, nodeList, numberOf, type QueryNode } from '../analysis/query-tree.js';
import type { Level } from '../parse/scopes.js';
import { isSingleRow, type Settling } from './order.js';

/** Whether no two rows are equal in all that a window function's window divides and orders them by. */
export function tellsApart(call: QueryNode, level: Level, settling: Settling): boolean {
  if (isSingleRow(level, settling)) return true;
  const query = settling.meaning.queryOf(level.select);
  const windows = query ? nodeList(query, 'windowClause') : [];
  const window = windows.find(({ fields }) => fields.winref === call.fields.winref);
  if (!query || !window) return false;
  const references = new Set(
    [...nodeList(window, 'partitionClause'), ...nodeList(window, 'orderClause')].map(referenceOf),
  );
  const grouped = nodeList(query, 'groupClause');
  if (grouped.length > 0) {
    return !query.fields.groupingSets && grouped.every((item) => references.has(referenceOf(item)));
  }
  const ordered = nodeList(query, 'targetList').filter(({ fields }) => references.has(fields.ressortgroupref!));
  return placesIn(query.fields.jointree).every((place) => isKeyed(place, ordered, query, level, settling));
}

function referenceOf({ fields }: QueryNode): unknown {
  return fields.tleSortGroupRef;
}

/** What a query reads, by its places in the list of all that it knows. */
function placesIn(node: unknown): number[] {
  if (Array.isArray(node)) return node.flatMap(placesIn);
  if (!isNode(node as QueryNode)) return [];
  const { tag, fields } = node as QueryNode;
  if (tag === 'RANGETBLREF') return [numberOf(node as QueryNode, 'rtindex')!];
  return [fields.fromlist, fields.larg, fields.rarg].flatMap(placesIn);
}

/** Whether the columns of a table's primary key are all among these. */
function isKeyed(
  place: number,
  columns: readonly QueryNode[],
  query: QueryNode,
  { sources }: Level,
  { tableOf }: Settling,
): boolean {
  const origins = columns.map((column) => originOf(column, query)).filter((origin) => origin?.place === place);
  const tables = sources.flatMap(({ table }) => (table ? [tableOf(table)] : []));
  const table = tables.find(({ oid }) => oid === origins[0]?.relation);
  return table?.primaryKey.every(({ attnum }) => origins.some((origin) => origin?.column === attnum)) ?? false;
}
