/** Tells whether a window's order leaves nothing open. */
import { columnReadBy, isExact } from '../analysis/exactness.js';
import { targets } from '../analysis/expressions.js';
import { type Field, isNode, namesOf, nodeList, numberOf, type QueryNode } from '../analysis/query-tree.js';
import type { Level } from '../parse/scopes.js';
import { isSingleRow, makesRows, type Settling } from './order.js';

/**
 * Whether rows that are equal in everything that a window function's window partitions and orders by are the same row,
 * or identical.
 */
export function tellsApart(call: QueryNode, level: Level, settling: Settling): boolean {
  if (isSingleRow(level, settling)) return true;
  const query = settling.meaning.queryOf(level.select)!;
  const window = nodeList(query, 'windowClause').find(({ fields }) => fields.winref === call.fields.winref)!;
  const items = [...nodeList(window, 'partitionClause'), ...nodeList(window, 'orderClause')];
  return tellApart(query, itemsOf(query, items), settling);
}

/** Whether these expressions tell apart the rows that a query reads or has grouped. */
function tellApart(query: QueryNode, expressions: readonly QueryNode[], settling: Settling): boolean {
  const { setOperations, groupingSets } = query.fields;
  if (setOperations || groupingSets || makesRows(query)) return false;
  const grouped = itemsOf(query, nodeList(query, 'groupClause'));
  if (grouped.length > 0) return grouped.every((item) => expressions.includes(item));
  const read = expressions.map((expression) => ({ expression, at: columnReadBy(expression, query) }));
  return entryNumbersIn(query.fields.jointree).every((entryNumber) => {
    const columns = new Map(
      read.flatMap(({ expression, at }) => (at?.entryNumber === entryNumber ? [[at.column, expression]] : [])),
    );
    return isTold(nodeList(query, 'rtable')[entryNumber - 1]!, columns, settling);
  });
}

/** Whether these columns of something that a query reads tell its rows apart. */
function isTold(entry: QueryNode, columns: ReadonlyMap<number, QueryNode>, settling: Settling): boolean {
  const { subquery } = entry.fields;
  if (isNode(subquery)) {
    const chosen = targets(subquery).filter((_, i) => columns.has(i + 1));
    return tellApart(subquery, chosen, settling);
  }
  const table = settling.tables.find(({ oid }) => oid === numberOf(entry, 'relid'));
  if (table) return table.primaryKey.every(({ attnum }) => columns.has(attnum));
  const all = namesOf(entry).columns.map((_, i) => columns.get(i + 1));
  if (entry.fields.funcordinality === 'true' && all.at(-1)) return true;
  return all.length > 0 && all.every((column) => column && isExact(column, settling.facts));
}

/** What a query reads, as numbers of entries in its range table. */
function entryNumbersIn(field: Field | undefined): number[] {
  if (!isNode(field)) return Array.isArray(field) ? field.flatMap(entryNumbersIn) : [];
  const entryNumber = field.tag === 'RANGETBLREF' ? numberOf(field, 'rtindex') : undefined;
  if (entryNumber !== undefined) return [entryNumber];
  return [field.fields.fromlist, field.fields.larg, field.fields.rarg].flatMap(entryNumbersIn);
}

/** The entries of a query's target list, in the result or not, that items of its clauses refer to. */
function itemsOf(query: QueryNode, items: readonly QueryNode[]): QueryNode[] {
  const references = new Set(items.map(({ fields }) => fields.tleSortGroupRef));
  return nodeList(query, 'targetList').filter(({ fields }) => references.has(fields.ressortgroupref));
}
