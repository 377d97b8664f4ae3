/**
 * Makes a query's orders total. If rows that tie in an ORDER BY decide what a LIMIT keeps, what a window counts or how
 * an array begins, their keys break the tie, so that the result is a function of the data.
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
import { columnName, type NamedTables, tableOf } from './qualify.js';
import { usedColumns } from './used-columns.js';

/** The inputs for making one query deterministic. */
export interface DeterminismContext {
  readonly meaning: Meaning;
  readonly namedTables: NamedTables;
  readonly tables: readonly Table[];
  readonly facts: Facts;
  /** The columns that identify a row of the view. */
  readonly key: readonly string[];
  /** The SELECT whose rows are the view's: the query itself, or that of one instance. */
  readonly rowQuery: Tree;
}

/** @throws SetupError if an order cannot be made deterministic; the message says what to write. */
export function makeOrdersDeterministic(select: Tree, context: DeterminismContext): void {
  // EXISTS does not depend on which rows there are.
  const existences = new Set(subqueriesOf(select, 'EXISTS_SUBLINK'));
  for (const exists of existences) dropLimit(exists);
  const arrays = new Set(subqueriesOf(select, 'ARRAY_SUBLINK'));
  for (const level of scopesOf(select).levels) {
    if (existences.has(level.select)) continue;
    if (isLimited(level.select)) breakLimitTies(level, context);
    else if (isDistinctOn(level.select)) breakDistinctOnTies(level, context);
    else if (arrays.has(level.select)) breakArrayTies(level, context);
  }
}

function* subqueriesOf(select: Tree, kind: 'EXISTS_SUBLINK' | 'ARRAY_SUBLINK'): Generator<Tree> {
  for (const { type, node } of visits({ SelectStmt: select })) {
    const isJson = type === 'JsonArrayQueryConstructor' && kind === 'ARRAY_SUBLINK';
    const subquery = isJson ? node.query : node.subLinkType === kind && node.subselect;
    if (subquery) yield (subquery as { SelectStmt: Tree }).SelectStmt;
  }
}

/** Removes the LIMIT of EXISTS, since the number of rows does not matter. */
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

/** Checks whether rows have an inherent order: those of VALUES, or of one function. */
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

function breakLimitTies(level: Level, context: DeterminismContext): void {
  const { select } = level;
  if (isSingleRow(level, context) || (isSequence(select) && !select.sortClause)) return;
  if (!select.sortClause) {
    throw new SetupError(
      'it has LIMIT or OFFSET without ORDER BY, so which rows it returns is left to chance. Add an ORDER BY',
    );
  }
  // DISTINCT ON keeps no two tied rows.
  if (select.limitOption === 'LIMIT_OPTION_WITH_TIES' && !isDistinctOn(select)) {
    if (select.limitOffset) {
      throw new SetupError(
        'it has OFFSET and WITH TIES, so which tied rows it skips is left to chance. Remove the OFFSET',
      );
    }
  } else if (select === context.rowQuery && !isDistinctOn(select) && !makesRows(context.meaning.queryOf(select))) {
    append(
      select,
      context.key.map((column) => columnRef(column)),
    );
  } else {
    append(select, tieBreakers(level, context));
  }
}

/** Checks whether all rows form one group. */
export function isSingleRow({ select }: Level, { meaning }: DeterminismContext): boolean {
  const { hasAggs, groupClause, groupingSets } = meaning.queryOf(select)?.fields ?? {};
  const items = (select.groupClause ?? []) as { GroupingSet?: Tree }[];
  const isGroupedByNothing = items.every(({ GroupingSet }) => GroupingSet?.kind === 'GROUPING_SET_EMPTY');
  if (items.length > 0 && isGroupedByNothing) return true;
  return (hasAggs === 'true' || Boolean(select.havingClause)) && !groupClause && !groupingSets;
}

function breakDistinctOnTies(level: Level, context: DeterminismContext): void {
  if (!level.select.sortClause) {
    throw new SetupError(
      'it has DISTINCT ON without ORDER BY, so which rows it keeps is left to chance. Add an ORDER BY',
    );
  }
  append(level.select, tieBreakers(level, context));
}

function breakArrayTies(level: Level, context: DeterminismContext): void {
  const { select } = level;
  if (isSingleRow(level, context) || (isSequence(select) && !select.sortClause)) return;
  if (!select.sortClause) {
    throw new SetupError('it builds an array from an unordered subquery. Give the subquery an ORDER BY');
  }
  append(select, tieBreakers(level, context));
}

function append(select: Tree, nodes: readonly Tree[]): void {
  select.sortClause = [...(select.sortClause as Tree[]), ...nodes.map(ascending)];
}

/** Returns expressions that distinguish the rows of the result, in a form that ORDER BY accepts. */
function tieBreakers(level: Level, context: DeterminismContext): Tree[] {
  const { select } = level;
  const query = context.meaning.queryOf(select);
  const ordinals = (query ? targets(query) : []).map((_, i) => integer(i + 1));
  if (select.op !== 'SETOP_NONE' || (select.distinctClause && !isDistinctOn(select)) || select.valuesLists) {
    return ordinals;
  }
  return [...unsortedOf(select), ...identityOf(level, context), ...(sortsMadeRows(query) ? ordinals : [])];
}

/** Checks whether a function in the select list turns one row into several. */
export function makesRows(query: QueryNode | undefined): boolean {
  return query?.fields.hasTargetSRFs === 'true';
}

/**
 * Checks whether Postgres sorts the rows that functions in the select list make. It makes them after sorting, and keeps
 * them in the function's order, unless it must sort by such a function.
 */
function sortsMadeRows(query: QueryNode | undefined): boolean {
  const sorted = query ? nodeList(query, 'targetList').filter(({ fields }) => fields.ressortgroupref !== '0') : [];
  return sorted.some(returnsSet);
}

/** Returns the DISTINCT ON expressions that ORDER BY lacks. It must contain them, before anything else. */
function unsortedOf({ distinctClause, sortClause }: Tree): Tree[] {
  const sorted = (sortClause as { SortBy: { node: Tree } }[]).map(({ SortBy }) => SortBy.node);
  return ((distinctClause ?? []) as Tree[]).filter((item) => !sorted.some((other) => isSame(other, item)));
}

/** Returns expressions that distinguish the rows that a SELECT reads or has grouped; none if there is only one row. */
export function identityOf(level: Level, context: DeterminismContext): Tree[] {
  const { select, fromItems } = level;
  const { namedTables } = context;
  const query = context.meaning.queryOf(select);
  if (isSingleRow(level, context)) return [];
  const grouped = (select.groupClause ?? []) as Tree[];
  if (grouped.length > 0) return groupedBy(grouped, select);
  return fromItems.flatMap(({ name, table }) => {
    if (table)
      return tableOf(table, namedTables).primaryKey.map((column) =>
        columnRef(name!, columnName(table, tableOf(table, namedTables), column.name)),
      );
    if (name === undefined) {
      throw new SetupError('it orders the rows of an unnamed subquery. Give the subquery an alias');
    }
    const used = query && usedColumns(query, name);
    return (used ?? ['*']).map((column) => bytes(columnRef(name, column)));
  });
}

/** Returns the grouping expressions and, for grouping sets, which of them apply to a row. */
function groupedBy(grouped: readonly Tree[], { targetList }: Tree): Tree[] {
  const items = grouped.flatMap(itemsOf).map((item) => {
    const ordinal = ((item.A_Const as Tree | undefined)?.ival as Tree | undefined)?.ival as number | undefined;
    return ordinal === undefined ? item : ((targetList as { ResTarget: Tree }[])[ordinal - 1]!.ResTarget.val as Tree);
  });
  const hasSets = items.length > 0 && grouped.some((item) => item.GroupingSet);
  return hasSets ? [...items, { GroupingFunc: { args: items } }] : items;
}

/** Returns the expressions of a grouping set. */
function itemsOf(item: Tree): Tree[] {
  const { GroupingSet: set, RowExpr: row } = item as Record<string, Tree | undefined>;
  if (set) return ((set.content ?? []) as Tree[]).flatMap(itemsOf);
  return row?.row_format === 'COERCE_IMPLICIT_CAST' ? (row.args as Tree[]) : [item];
}
