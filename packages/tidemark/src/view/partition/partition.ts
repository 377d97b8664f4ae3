/**
 * Divides a view's rows into partitions, each of which is a function of a few rows of the view's tables. A delta then
 * evaluates the view only for the partitions that changes affect. Pure.
 */

import { columnReadBy } from '../analysis/exactness.js';
import { targets } from '../analysis/expressions.js';
import type { Meaning } from '../analysis/meaning.js';
import { isNode, namesOf, nodeList, numberOf, type QueryNode } from '../analysis/query-tree.js';
import { allOf } from '../parse/conditions.js';
import { columnRef } from '../parse/nodes.js';
import { isTree, type Tree, visits } from '../parse/tree.js';
import { refTo } from './conditions.js';
import { flatten } from './flatten.js';
import type { Column, FlatJoin, JoinedTable } from './joins.js';
import { isCoalesce, mergedColumns } from './merged-columns.js';
import { dividingTargets, isNeverEmpty } from './outputs.js';
import { columnOfTarget, leavesOutRows, type QueryContext } from './resolve.js';
import { armsOf } from './set-operations.js';

/** A query that finds the partitions that changes of some tables affect. */
export interface CompanionQuery {
  /** A join of tables. It yields the partition's columns `tidemark_r1…`, or none if it identifies no partition. */
  readonly select: Tree;
  /** For each table in the join, its number among the tables that the view's query reads. */
  readonly occurrences: readonly number[];
  /** The indexes of the tables in the join whose changed rows it reads. */
  readonly focuses: readonly number[];
  /** False if the changes may affect any partition. */
  readonly identifiesPartition: boolean;
}

/** A SELECT within a query whose WHERE restricts the query to a partition. */
export interface RestrictionPoint {
  /** The fields on the path from the query to the SELECT. */
  readonly path: readonly string[];
  /** An expression for each of the partition's columns. */
  readonly columns: readonly Tree[];
}

export interface Partition {
  readonly queries: readonly CompanionQuery[];
  /** Empty if there are no partitions. The queries then only detect whether the result may differ. */
  readonly restrictionPoints: readonly RestrictionPoint[];
  /** For each of the partition's columns, true if it can be null. */
  readonly nullable: readonly boolean[];
  /** The columns of the view's key that equal the partition's columns, if there are such. */
  readonly keyColumns?: readonly string[] | undefined;
  /** True if the partitions divide all rows of a query that returns only the first ones; see `firstRowsBefore`. */
  readonly isForFirstRows?: boolean;
}

/** A query to divide into partitions. */
export interface PartitionInput {
  readonly select: Tree;
  /** The columns of the result that identify a row. */
  readonly key: readonly string[];
  /** True if no two rows have the same key. Otherwise, rows with the same key must be in one partition. */
  readonly isUnique: boolean;
  /** True if the partitions must divide all rows of a query that returns only the first ones. */
  readonly isForFirstRows: boolean;
}

/** @returns undefined if nothing is known about what changes affect */
export function partitionOf(
  { select, key, isUnique, isForFirstRows }: PartitionInput,
  baseContext: QueryContext,
): Partition | undefined {
  const context = { ...baseContext, unlimited: isForFirstRows ? select : undefined };
  const flat = flatten(select, context);
  if (!flat) return undefined;
  const { joins } = flat;
  const by = byKey(select, key, joins, context.meaning) ?? (isUnique ? byOther(select, joins, context) : undefined);
  const queries = joins.flatMap((join, i) => companionsOf(join, by?.columns[i]));
  const nullable = by ? by.columns[0]!.map((_, i) => by.columns.some((columns) => !columns[i]!.isNotNull)) : [];
  if (!by) return { queries, restrictionPoints: [], nullable };
  const partition = { queries, restrictionPoints: by.restrictionPoints, nullable };
  return isForFirstRows ? { ...partition, isForFirstRows } : { ...partition, keyColumns: by.keyColumns };
}

interface PartitionColumns {
  /** The partition's columns, for each join. */
  readonly columns: readonly (readonly Column[])[];
  readonly restrictionPoints: readonly RestrictionPoint[];
  readonly keyColumns?: readonly string[];
}

/** Divides by columns of the view's key, so that rows with the same key are in one partition. */
function byKey(
  select: Tree,
  key: readonly string[],
  joins: readonly FlatJoin[],
  meaning: Meaning,
): PartitionColumns | undefined {
  const query = meaning.operationOf(select)?.arms[0] ?? meaning.queryOf(select)!;
  const positions = [...targets(query).entries()]
    .filter(([, { fields }]) => key.includes(fields.resname as string))
    .map(([i]) => i)
    .filter((i) => joins.every(({ outputs }) => outputs[i]));
  if (positions.length === 0) return undefined;
  const restrictionPoints = pointsOf(select, positions, meaning);
  return (
    restrictionPoints && {
      columns: joins.map(({ outputs }) => positions.map((i) => outputs[i]!)),
      restrictionPoints: rooted(select, restrictionPoints),
      keyColumns: positions.map((i) => targets(query)[i]!.fields.resname as string),
    }
  );
}

/**
 * Divides by other values that each row has exactly one of: the columns by which all clauses of the query divide its
 * rows, the primary key of a table, or the columns that divide the rows of a subquery.
 */
function byOther(select: Tree, joins: readonly FlatJoin[], context: QueryContext): PartitionColumns | undefined {
  const { meaning } = context;
  const query = meaning.queryOf(select);
  if (!query || meaning.operationOf(select) || leavesOutRows(select, context) || isNeverEmpty(query)) return undefined;
  const clauses = ['groupClause', 'distinctClause', 'windowClause'];
  if (clauses.some((clause) => nodeList(query, clause).length > 0)) return byClauses(select, query, joins);
  for (const [i, { fields }] of nodeList(query, 'rtable').entries()) {
    const entryColumns = joins.map(({ columns }) => columns.get(i + 1) ?? []);
    const isTable = !isNode(fields.subquery);
    const positions = [...(entryColumns[0] ?? []).keys()].filter((at) =>
      entryColumns.every((columns) => columns[at] && (!isTable || columns[at].isNotNull)),
    );
    const restrictionPoints = positions.length > 0 ? pointsIn(select, query, i + 1, positions, meaning) : undefined;
    if (restrictionPoints)
      return {
        columns: entryColumns.map((columns) => positions.map((at) => columns[at]!)),
        restrictionPoints: rooted(select, restrictionPoints),
      };
  }
  return undefined;
}

function byClauses(select: Tree, query: QueryNode, joins: readonly FlatJoin[]): PartitionColumns | undefined {
  const dividingColumns = dividingTargets(query).flatMap((target) => {
    const columns = joins.map((join) => columnOfTarget(target, { query, columns: join.columns }));
    if (!columns.every((column) => column !== undefined)) return [];
    const expression = columnIn(target.fields.expr as QueryNode, query);
    return expression ? { expression, columns } : [];
  });
  if (dividingColumns.length === 0) return undefined;
  return {
    columns: joins.map((_, i) => dividingColumns.map(({ columns }) => columns[i]!)),
    restrictionPoints: rooted(select, [{ select, columns: dividingColumns.map(({ expression }) => expression) }]),
  };
}

/** Returns the points where a query is restricted by columns of an entry of its range table. */
function pointsIn(
  select: Tree,
  query: QueryNode,
  number: number,
  positions: readonly number[],
  meaning: Meaning,
): SelectPoint[] | undefined {
  const entry = nodeList(query, 'rtable')[number - 1]!;
  const { subquery } = entry.fields;
  const inner = isNode(subquery) ? selectOf(subquery, select, meaning) : undefined;
  if (inner) return pointsOf(inner, positions, meaning);
  const { name, columns } = namesOf(entry);
  return [{ select, columns: positions.map((at) => columnRef(name as string, columns[at] as string)) }];
}

interface SelectPoint {
  readonly select: Tree;
  readonly columns: readonly Tree[];
}

/** Returns the points where a query is restricted by columns of its result; undefined if this cannot be written. */
function pointsOf(select: Tree, positions: readonly number[], meaning: Meaning): SelectPoint[] | undefined {
  if (meaning.operationOf(select)) {
    const arms = armsOf(select, meaning).map((arm) => pointsOf(arm, positions, meaning));
    return arms.every((arm) => arm !== undefined) ? arms.flat() : undefined;
  }
  const query = meaning.queryOf(select)!;
  const read = positions.map((i) => columnReadBy(targets(query)[i]!, query));
  const [first] = read;
  if (first && isNode(first.entry.fields.subquery) && read.every((one) => one?.entryNumber === first.entryNumber)) {
    const at = read.map((one) => one!.column - 1);
    const inside = pointsIn(select, query, first.entryNumber, at, meaning);
    if (inside) return inside;
  }
  const columns = positions.map((i) => columnIn(targets(query)[i]!.fields.expr as QueryNode, query));
  return columns.every((column) => column !== undefined) ? [{ select, columns }] : undefined;
}

/** Returns a column as the query's WHERE can name it, or COALESCE of the columns that FULL JOIN merges. */
function columnIn(expression: QueryNode, query: QueryNode): Tree | undefined {
  if (isCoalesce(expression)) {
    const args = mergedColumns(expression, query).map((arg) => columnIn(arg, query));
    return args.length > 0 && args.every((arg) => arg !== undefined) ? { CoalesceExpr: { args } } : undefined;
  }
  const number = numberOf(expression, 'varattno');
  if (number === undefined) return undefined;
  const entry = nodeList(query, 'rtable')[numberOf(expression, 'varno')! - 1]!;
  const grouped = nodeList(entry, 'groupexprs')[number - 1];
  if (grouped) return columnIn(grouped, query);
  const { name, columns } = namesOf(entry);
  const column = columns[number - 1] as string;
  // The merged columns of a join with USING have no qualifier if the join has no alias.
  const isNamed = isNode(entry.fields.alias) || !isNode(nodeList(entry, 'joinaliasvars')[0]);
  return isNamed ? columnRef(name as string, column) : columnRef(column);
}

function selectOf(query: QueryNode, around: Tree, meaning: Meaning): Tree | undefined {
  for (const { type, node } of visits({ SelectStmt: around })) {
    if (type === 'SelectStmt' && node !== around && meaning.queryOf(node) === query) return node;
  }
  return undefined;
}

function rooted(root: Tree, restrictionPoints: readonly SelectPoint[]): RestrictionPoint[] {
  return restrictionPoints.map(({ select, columns }) => ({ path: pathTo(select, root)!, columns }));
}

function pathTo(node: Tree, at: unknown): string[] | undefined {
  if (at === node) return [];
  if (!isTree(at)) return undefined;
  for (const [key, child] of Object.entries(at)) {
    const path = pathTo(node, child);
    if (path) return [key, ...path];
  }
  return undefined;
}

/** Returns the queries that find what changes of a join's tables affect. Tables with equal connections share one. */
function companionsOf(join: FlatJoin, columns: readonly Column[] = []): CompanionQuery[] {
  const queries = new Map<string, CompanionQuery>();
  for (const table of join.tables.filter(({ isFocus }) => isFocus)) {
    const near = connected([table.alias], join);
    const goals = columns.map(({ alias }) => alias);
    const isNear = goals.every((alias) => near.has(alias));
    const identifiesPartition = goals.length > 0 && (isNear || join.isRare);
    const reached = identifiesPartition && !isNear ? connected([table.alias, ...goals], join) : near;
    const tables = join.tables.filter(({ alias }) => reached.has(alias));
    const id = `${tables.map(({ alias }) => alias)} ${identifiesPartition}`;
    const query = queries.get(id) ?? companionOf(join, tables, identifiesPartition ? columns : []);
    queries.set(id, { ...query, focuses: [...query.focuses, tables.indexOf(table)] });
  }
  return [...queries.values()];
}

function companionOf(join: FlatJoin, tables: readonly JoinedTable[], columns: readonly Column[]): CompanionQuery {
  const has = new Set(tables.map(({ alias }) => alias));
  const conditions = join.conditions.filter((condition) => aliasesIn(condition).every((alias) => has.has(alias)));
  return {
    select: {
      ...(columns.length > 0 && { targetList: columns.map(resultOf) }),
      fromClause: tables.map(({ range }) => ({ RangeVar: range })),
      ...(conditions.length > 0 && { whereClause: allOf(conditions) }),
      limitOption: 'LIMIT_OPTION_DEFAULT',
      op: 'SETOP_NONE',
    },
    occurrences: tables.map(({ occurrence }) => occurrence),
    focuses: [],
    identifiesPartition: columns.length > 0,
  };
}

function resultOf(column: Column, i: number): Tree {
  return { ResTarget: { name: `tidemark_r${i + 1}`, val: refTo(column) } };
}

/** Returns these tables and all that conditions connect with them. */
function connected(aliases: readonly string[], { conditions }: FlatJoin): ReadonlySet<string> {
  const reached = new Set(aliases);
  const groups = conditions.map(aliasesIn);
  let before: number;
  do {
    before = reached.size;
    for (const group of groups) {
      if (group.some((alias) => reached.has(alias))) for (const alias of group) reached.add(alias);
    }
  } while (reached.size > before);
  return reached;
}

function aliasesIn(condition: Tree): string[] {
  return [...visits(condition)]
    .filter(({ type }) => type === 'ColumnRef')
    .map(({ node }) => (node.fields as { String: { sval: string } }[])[0]!.String.sval);
}
