/** Checks whether a window's order is total. */
import { columnReadBy, isExact } from '../analysis/exactness.js';
import { targets } from '../analysis/expressions.js';
import { type Field, isNode, namesOf, nodeList, numberOf, type QueryNode } from '../analysis/query-tree.js';
import type { Level } from '../parse/scopes.js';
import { type DeterminismContext, isSingleRow, makesRows } from './order.js';

/** True if a window function's PARTITION BY and ORDER BY distinguish all rows, except identical ones. */
export function hasTotalOrder(call: QueryNode, level: Level, context: DeterminismContext): boolean {
  if (isSingleRow(level, context)) return true;
  const query = context.meaning.queryOf(level.select)!;
  const window = nodeList(query, 'windowClause').find(({ fields }) => fields.winref === call.fields.winref)!;
  const items = [...nodeList(window, 'partitionClause'), ...nodeList(window, 'orderClause')];
  return distinguishesRows(query, itemsOf(query, items), context);
}

/** Checks whether these expressions distinguish the rows that a query reads or has grouped. */
function distinguishesRows(query: QueryNode, expressions: readonly QueryNode[], context: DeterminismContext): boolean {
  const { setOperations, groupingSets } = query.fields;
  if (setOperations || groupingSets || makesRows(query)) return false;
  const grouped = itemsOf(query, nodeList(query, 'groupClause'));
  if (grouped.length > 0) return grouped.every((item) => expressions.includes(item));
  const read = expressions.map((expression) => ({ expression, at: columnReadBy(expression, query) }));
  return entryNumbersIn(query.fields.jointree).every((entryNumber) => {
    const columns = new Map(
      read.flatMap(({ expression, at }) => (at?.entryNumber === entryNumber ? [[at.column, expression]] : [])),
    );
    return distinguishesEntry(nodeList(query, 'rtable')[entryNumber - 1]!, columns, context);
  });
}

/** Checks whether these columns of a range table entry distinguish its rows. */
function distinguishesEntry(
  entry: QueryNode,
  columns: ReadonlyMap<number, QueryNode>,
  context: DeterminismContext,
): boolean {
  const { subquery } = entry.fields;
  if (isNode(subquery)) {
    const chosen = targets(subquery).filter((_, i) => columns.has(i + 1));
    return distinguishesRows(subquery, chosen, context);
  }
  const table = context.tables.find(({ oid }) => oid === numberOf(entry, 'relid'));
  if (table) return table.primaryKey.every(({ attnum }) => columns.has(attnum));
  const all = namesOf(entry).columns.map((_, i) => columns.get(i + 1));
  if (entry.fields.funcordinality === 'true' && all.at(-1)) return true;
  return all.length > 0 && all.every((column) => column && isExact(column, context.facts));
}

/** Returns the numbers of the range table entries that a query reads. */
function entryNumbersIn(field: Field | undefined): number[] {
  if (!isNode(field)) return Array.isArray(field) ? field.flatMap(entryNumbersIn) : [];
  const entryNumber = field.tag === 'RANGETBLREF' ? numberOf(field, 'rtindex') : undefined;
  if (entryNumber !== undefined) return [entryNumber];
  return [field.fields.fromlist, field.fields.larg, field.fields.rarg].flatMap(entryNumbersIn);
}

/** Returns the entries of a query's target list, in the result or not, that items of its clauses refer to. */
function itemsOf(query: QueryNode, items: readonly QueryNode[]): QueryNode[] {
  const references = new Set(items.map(({ fields }) => fields.tleSortGroupRef));
  return nodeList(query, 'targetList').filter(({ fields }) => references.has(fields.ressortgroupref));
}
