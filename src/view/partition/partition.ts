/**
 * Divides a view's rows into partitions, each of which is a function of a few rows of the view's tables, so that a delta
 * evaluates the view for the partitions that changes affect, instead of as a whole. Pure.
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
import { columnOfTarget, leavesOutRows, type Reading } from './resolve.js';
import { armsOf } from './set-operations.js';

/** A query that tells which partitions changes of some tables affect. */
export interface CompanionQuery {
  /** A join of tables. It yields the partitions' columns `tidemark_r1…`, or nothing if it does not tell which. */
  readonly select: Tree;
  /** The number of each table in the join, among the tables that the view's query reads. */
  readonly occurrences: readonly number[];
  /** Which tables in the join it finds the changed rows of. */
  readonly focuses: readonly number[];
  /** False if any partition may be affected. */
  readonly tellsPartition: boolean;
}

/** A place in a query where its rows are restricted to a partition. */
export interface Place {
  /** The fields on the way from the query to the SELECT whose WHERE is extended. */
  readonly path: readonly string[];
  /** An expression for each of the partition's columns. */
  readonly columns: readonly Tree[];
}

export interface Partition {
  readonly queries: readonly CompanionQuery[];
  /** Empty if there are no partitions: then the queries only tell whether there may be any difference. */
  readonly places: readonly Place[];
  /** Which of the partition's columns can be null. */
  readonly nullable: readonly boolean[];
  /** The columns of the view's key that the partition's columns are, if they are. */
  readonly keyColumns?: readonly string[] | undefined;
  /** True if all rows are divided of which the query is for the first. */
  readonly isForFirstRows?: boolean;
}

/** What is to be divided. */
export interface Divided {
  readonly select: Tree;
  /** The columns of the result that identify a row. */
  readonly key: readonly string[];
  /** True if no two rows have the same key. If not, those that have it must be in one partition. */
  readonly isUnique: boolean;
  /** True if all rows are divided of which the query is for the first. */
  readonly isForFirstRows: boolean;
}

/** @returns undefined if nothing is known about what changes affect */
export function partitionOf({ select, key, isUnique, isForFirstRows }: Divided, given: Reading): Partition | undefined {
  const reading = { ...given, unlimited: isForFirstRows ? select : undefined };
  const flat = flatten(select, reading);
  if (!flat) return undefined;
  const { joins } = flat;
  const by = byKey(select, key, joins, reading.meaning) ?? (isUnique ? byOther(select, joins, reading) : undefined);
  const queries = joins.flatMap((join, i) => companionsOf(join, by?.columns[i]));
  const nullable = by ? by.columns[0]!.map((_, i) => by.columns.some((columns) => !columns[i]!.isNotNull)) : [];
  if (!by) return { queries, places: [], nullable };
  const partition = { queries, places: by.places, nullable };
  return isForFirstRows ? { ...partition, isForFirstRows } : { ...partition, keyColumns: by.keyColumns };
}

interface Dividing {
  /** The partition's columns, for each join. */
  readonly columns: readonly (readonly Column[])[];
  readonly places: readonly Place[];
  readonly keyColumns?: readonly string[];
}

/** Partitions by columns of the view's key: rows with the same key are in one partition. */
function byKey(
  select: Tree,
  key: readonly string[],
  joins: readonly FlatJoin[],
  meaning: Meaning,
): Dividing | undefined {
  const query = meaning.operationOf(select)?.arms[0] ?? meaning.queryOf(select)!;
  const positions = [...targets(query).entries()]
    .filter(([, { fields }]) => key.includes(fields.resname as string))
    .map(([i]) => i)
    .filter((i) => joins.every(({ outputs }) => outputs[i]));
  if (positions.length === 0) return undefined;
  const places = placesOf(select, positions, meaning);
  return (
    places && {
      columns: joins.map(({ outputs }) => positions.map((i) => outputs[i]!)),
      places: rooted(select, places),
      keyColumns: positions.map((i) => targets(query)[i]!.fields.resname as string),
    }
  );
}

/**
 * Partitions by something else of which each row has one: the columns that all clauses of the query divide its rows by; the
 * primary key of a table; or the columns that divide the rows of a subquery.
 */
function byOther(select: Tree, joins: readonly FlatJoin[], reading: Reading): Dividing | undefined {
  const { meaning } = reading;
  const query = meaning.queryOf(select);
  if (!query || meaning.operationOf(select) || leavesOutRows(select, reading) || isNeverEmpty(query)) return undefined;
  const clauses = ['groupClause', 'distinctClause', 'windowClause'];
  if (clauses.some((clause) => nodeList(query, clause).length > 0)) return byClauses(select, query, joins);
  for (const [i, { fields }] of nodeList(query, 'rtable').entries()) {
    const found = joins.map(({ columns }) => columns.get(i + 1) ?? []);
    const isTable = !isNode(fields.subquery);
    const positions = [...(found[0] ?? []).keys()].filter((at) =>
      found.every((columns) => columns[at] && (!isTable || columns[at].isNotNull)),
    );
    const places = positions.length > 0 ? placesIn(select, query, i + 1, positions, meaning) : undefined;
    if (places)
      return { columns: found.map((columns) => positions.map((at) => columns[at]!)), places: rooted(select, places) };
  }
  return undefined;
}

function byClauses(select: Tree, query: QueryNode, joins: readonly FlatJoin[]): Dividing | undefined {
  const found = dividingTargets(query).flatMap((target) => {
    const columns = joins.map((join) => columnOfTarget(target, { query, columns: join.columns }));
    if (!columns.every((column) => column !== undefined)) return [];
    const place = columnIn(target.fields.expr as QueryNode, query);
    return place ? { place, columns } : [];
  });
  if (found.length === 0) return undefined;
  return {
    columns: joins.map((_, i) => found.map(({ columns }) => columns[i]!)),
    places: rooted(select, [{ select, columns: found.map(({ place }) => place) }]),
  };
}

/** The places where a query is restricted by columns of an entry of its range table. */
function placesIn(
  select: Tree,
  query: QueryNode,
  number: number,
  positions: readonly number[],
  meaning: Meaning,
): FoundPlace[] | undefined {
  const entry = nodeList(query, 'rtable')[number - 1]!;
  const { subquery } = entry.fields;
  const inner = isNode(subquery) ? selectOf(subquery, select, meaning) : undefined;
  if (inner) return placesOf(inner, positions, meaning);
  const { name, columns } = namesOf(entry);
  return [{ select, columns: positions.map((at) => columnRef(name as string, columns[at] as string)) }];
}

interface FoundPlace {
  readonly select: Tree;
  readonly columns: readonly Tree[];
}

/** The places where a query is restricted by columns of its result; undefined if that cannot be written. */
function placesOf(select: Tree, positions: readonly number[], meaning: Meaning): FoundPlace[] | undefined {
  if (meaning.operationOf(select)) {
    const arms = armsOf(select, meaning).map((arm) => placesOf(arm, positions, meaning));
    return arms.every((arm) => arm !== undefined) ? arms.flat() : undefined;
  }
  const query = meaning.queryOf(select)!;
  const read = positions.map((i) => columnReadBy(targets(query)[i]!, query));
  const [first] = read;
  if (first && isNode(first.entry.fields.subquery) && read.every((one) => one?.entryNumber === first.entryNumber)) {
    const at = read.map((one) => one!.column - 1);
    const inside = placesIn(select, query, first.entryNumber, at, meaning);
    if (inside) return inside;
  }
  const columns = positions.map((i) => columnIn(targets(query)[i]!.fields.expr as QueryNode, query));
  return columns.every((column) => column !== undefined) ? [{ select, columns }] : undefined;
}

/** A column as a query names it in its WHERE, or the columns that FULL JOIN merges. */
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
  // A join without a name has the columns that USING has merged.
  const isNamed = isNode(entry.fields.alias) || !isNode(nodeList(entry, 'joinaliasvars')[0]);
  return isNamed ? columnRef(name as string, column) : columnRef(column);
}

function selectOf(query: QueryNode, around: Tree, meaning: Meaning): Tree | undefined {
  for (const { type, node } of visits({ SelectStmt: around })) {
    if (type === 'SelectStmt' && node !== around && meaning.queryOf(node) === query) return node;
  }
  return undefined;
}

function rooted(root: Tree, places: readonly FoundPlace[]): Place[] {
  return places.map(({ select, columns }) => ({ path: pathTo(select, root)!, columns }));
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

/** The queries that find what changes of a join's tables affect: one for the tables that are connected in the same way. */
function companionsOf(join: FlatJoin, columns: readonly Column[] = []): CompanionQuery[] {
  const queries = new Map<string, CompanionQuery>();
  for (const table of join.tables.filter(({ isFocus }) => isFocus)) {
    const near = connected([table.alias], join);
    const goals = columns.map(({ alias }) => alias);
    const isNear = goals.every((alias) => near.has(alias));
    const tellsPartition = goals.length > 0 && (isNear || join.isRare);
    const reached = tellsPartition && !isNear ? connected([table.alias, ...goals], join) : near;
    const tables = join.tables.filter(({ alias }) => reached.has(alias));
    const id = `${tables.map(({ alias }) => alias)} ${tellsPartition}`;
    const query = queries.get(id) ?? companionOf(join, tables, tellsPartition ? columns : []);
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
    tellsPartition: columns.length > 0,
  };
}

function resultOf(column: Column, i: number): Tree {
  return { ResTarget: { name: `tidemark_r${i + 1}`, val: refTo(column) } };
}

/** The tables that conditions connect with some. */
function connected(aliases: readonly string[], { conditions }: FlatJoin): ReadonlySet<string> {
  const reached = new Set(aliases);
  const groups = conditions.map(aliasesIn);
  let before: number;
  do {
    before = reached.size;
    for (const group of groups)
      if (group.some((alias) => reached.has(alias))) for (const alias of group) reached.add(alias);
  } while (reached.size > before);
  return reached;
}

function aliasesIn(condition: Tree): string[] {
  return [...visits(condition)]
    .filter(({ type }) => type === 'ColumnRef')
    .map(({ node }) => (node.fields as { String: { sval: string } }[])[0]!.String.sval);
}
