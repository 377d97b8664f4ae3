/**
 * Settles orders that a query leaves open. If rows that tie in its ORDER BY decide what a LIMIT keeps, what a window
 * counts or how an array begins, they are told apart by their keys, so that the result is a function of the data.
 */
import type { Table } from '../../catalog/tables.js';
import { SetupError } from '../../errors.js';
import { returnsSet, targets } from '../analysis/expressions.js';
import type { Facts } from '../analysis/facts.js';
import type { Meaning } from '../analysis/meaning.js';
import { nodeList, type QueryNode } from '../analysis/query-tree.js';
import { ascending, bytes, columnRef, integer } from '../parse/nodes.js';
import { type Level, scopesOf } from '../parse/scopes.js';
import { isSame } from '../parse/syntax.js';
import { type Tree, visits } from '../parse/tree.js';
import { columnName, type TableOf } from './qualify.js';
import { usedColumns } from './used-columns.js';

/** What is needed to settle one query. */
export interface Settling {
  readonly meaning: Meaning;
  readonly tableOf: TableOf;
  readonly tables: readonly Table[];
  readonly facts: Facts;
  /** The columns that identify a row of the view. */
  readonly key: readonly string[];
}

/** @throws SetupError if an order cannot be settled; the message says what to write. */
export function settleOrders(select: Tree, settling: Settling): void {
  // Which rows there are makes no difference to EXISTS.
  const existences = new Set(subqueriesOf(select, 'EXISTS_SUBLINK'));
  for (const exists of existences) dropLimit(exists);
  const arrays = new Set(subqueriesOf(select, 'ARRAY_SUBLINK'));
  for (const level of scopesOf(select).levels) {
    if (existences.has(level.select)) continue;
    if (isLimited(level.select)) settleLimit(level, settling, level.select === select);
    else if (isDistinctOn(level.select)) settleDistinctOn(level, settling);
    else if (arrays.has(level.select)) settleArray(level, settling);
  }
}

function* subqueriesOf(select: Tree, kind: 'EXISTS_SUBLINK' | 'ARRAY_SUBLINK'): Generator<Tree> {
  for (const { type, node } of visits({ SelectStmt: select })) {
    const isJson = type === 'JsonArrayQueryConstructor' && kind === 'ARRAY_SUBLINK';
    const subquery = isJson ? node.query : node.subLinkType === kind && node.subselect;
    if (subquery) yield (subquery as { SelectStmt: Tree }).SelectStmt;
  }
}

/** Whether there is a row does not depend on how many are looked at. */
function dropLimit(select: Tree): void {
  const count = ((select.limitCount as Tree | undefined)?.A_Const as Tree | undefined)?.ival as Tree | undefined;
  if (!count?.ival || select.limitOffset) return;
  delete select.limitCount;
  select.limitOption = 'LIMIT_OPTION_DEFAULT';
}

export function isLimited({ limitCount, limitOffset }: Tree): boolean {
  const isNull = Boolean(((limitCount as Tree | undefined)?.A_Const as Tree | undefined)?.isnull);
  return Boolean((limitCount && !isNull) || limitOffset);
}

export function isDistinctOn({ distinctClause }: Tree): boolean {
  return ((distinctClause ?? []) as Tree[]).some((item) => Object.keys(item).length > 0);
}

/** Whether rows come in an order of their own: those of VALUES, or of one function. */
export function isSequence({ op, fromClause, groupClause, distinctClause }: Tree): boolean {
  const items = (fromClause ?? []) as Tree[];
  return (
    op === 'SETOP_NONE' &&
    !groupClause &&
    !distinctClause &&
    items.length < 2 &&
    items.every((item) => item.RangeFunction)
  );
}

function settleLimit(level: Level, settling: Settling, isOutermost: boolean): void {
  const { select } = level;
  if (isSingleRow(level, settling) || (isSequence(select) && !select.sortClause)) return;
  if (!select.sortClause) {
    throw new SetupError(
      'it has LIMIT or OFFSET without ORDER BY, so which rows it returns is left to chance. Add an ORDER BY',
    );
  }
  // No two rows that DISTINCT ON keeps are tied.
  if (select.limitOption === 'LIMIT_OPTION_WITH_TIES' && !isDistinctOn(select)) {
    if (select.limitOffset) {
      throw new SetupError(
        'it has OFFSET and WITH TIES, so which tied rows it skips is left to chance. Remove the OFFSET',
      );
    }
  } else if (isOutermost && !isDistinctOn(select) && !makesRows(settling.meaning.queryOf(select))) {
    append(
      select,
      settling.key.map((column) => columnRef(column)),
    );
  } else {
    append(select, rowsApart(level, settling));
  }
}

/** Whether all rows are one group. */
export function isSingleRow({ select }: Level, { meaning }: Settling): boolean {
  const { hasAggs, groupClause, groupingSets } = meaning.queryOf(select)?.fields ?? {};
  const items = (select.groupClause ?? []) as { GroupingSet?: Tree }[];
  const isGroupedByNothing = items.every(({ GroupingSet }) => GroupingSet?.kind === 'GROUPING_SET_EMPTY');
  if (items.length > 0 && isGroupedByNothing) return true;
  return (hasAggs === 'true' || Boolean(select.havingClause)) && !groupClause && !groupingSets;
}

function settleDistinctOn(level: Level, settling: Settling): void {
  if (!level.select.sortClause) {
    throw new SetupError(
      'it has DISTINCT ON without ORDER BY, so which rows it keeps is left to chance. Add an ORDER BY',
    );
  }
  append(level.select, rowsApart(level, settling));
}

function settleArray(level: Level, settling: Settling): void {
  const { select } = level;
  if (isSingleRow(level, settling) || (isSequence(select) && !select.sortClause)) return;
  if (!select.sortClause) {
    throw new SetupError('it builds an array from an unordered subquery. Give the subquery an ORDER BY');
  }
  append(select, rowsApart(level, settling));
}

function append(select: Tree, nodes: readonly Tree[]): void {
  select.sortClause = [...(select.sortClause as Tree[]), ...nodes.map(ascending)];
}

/** Expressions that tell the rows of the result apart, in a form that ORDER BY can have. */
function rowsApart(level: Level, settling: Settling): Tree[] {
  const { select } = level;
  const query = settling.meaning.queryOf(select);
  const places = (query ? targets(query) : []).map((_, i) => integer(i + 1));
  if (select.op !== 'SETOP_NONE' || (select.distinctClause && !isDistinctOn(select)) || select.valuesLists)
    return places;
  return [...unsortedOf(select), ...identityOf(level, settling), ...(sortsMadeRows(query) ? places : [])];
}

/** Whether a function in the select list turns one row into several. */
export function makesRows(query: QueryNode | undefined): boolean {
  return query?.fields.hasTargetSRFs === 'true';
}

/**
 * Whether the rows that functions in the select list make are sorted. Postgres makes them after it has sorted, and
 * keeps them in the function's order, unless it must sort by a function that makes rows.
 */
function sortsMadeRows(query: QueryNode | undefined): boolean {
  const sorted = query ? nodeList(query, 'targetList').filter(({ fields }) => fields.ressortgroupref !== '0') : [];
  return sorted.some(returnsSet);
}

/** The DISTINCT ON expressions that ORDER BY does not name: it must, before anything else. */
function unsortedOf({ distinctClause, sortClause }: Tree): Tree[] {
  const sorted = (sortClause as { SortBy: { node: Tree } }[]).map(({ SortBy }) => SortBy.node);
  return ((distinctClause ?? []) as Tree[]).filter((item) => !sorted.some((other) => isSame(other, item)));
}

/** Expressions that tell apart the rows that a SELECT reads or has grouped; none if there is only one row. */
export function identityOf(level: Level, settling: Settling): Tree[] {
  const { select, sources } = level;
  const { tableOf } = settling;
  const query = settling.meaning.queryOf(select);
  if (isSingleRow(level, settling)) return [];
  const grouped = (select.groupClause ?? []) as Tree[];
  if (grouped.length > 0) return groupedBy(grouped, select);
  return sources.flatMap(({ name, table }) => {
    if (table)
      return tableOf(table).primaryKey.map((column) =>
        columnRef(name!, columnName(table, tableOf(table), column.name)),
      );
    if (name === undefined)
      throw new SetupError('it orders the rows of an unnamed subquery. Give the subquery an alias');
    const used = query && usedColumns(query, name);
    return (used ?? ['*']).map((column) => bytes(columnRef(name, column)));
  });
}

/** The grouping expressions; for grouping sets, also which of them a row is grouped by. */
function groupedBy(grouped: readonly Tree[], { targetList }: Tree): Tree[] {
  const items = grouped.flatMap(itemsOf).map((item) => {
    const place = ((item.A_Const as Tree | undefined)?.ival as Tree | undefined)?.ival as number | undefined;
    return place === undefined ? item : ((targetList as { ResTarget: Tree }[])[place - 1]!.ResTarget.val as Tree);
  });
  const hasSets = items.length > 0 && grouped.some((item) => item.GroupingSet);
  return hasSets ? [...items, { GroupingFunc: { args: items } }] : items;
}

/** The expressions of a grouping set. */
function itemsOf(item: Tree): Tree[] {
  const { GroupingSet: set, RowExpr: row } = item as Record<string, Tree | undefined>;
  if (set) return ((set.content ?? []) as Tree[]).flatMap(itemsOf);
  return row?.row_format === 'COERCE_IMPLICIT_CAST' ? (row.args as Tree[]) : [item];
}
