/** Finds the SELECTs within a query whose WHERE can restrict the query by columns of its result. Pure. */
import { columnReadBy } from '../analysis/exactness.js';
import { targets } from '../analysis/expressions.js';
import type { Meaning } from '../analysis/meaning.js';
import { isNode, namesOf, nodeList, numberOf, type QueryNode } from '../analysis/query-tree.js';
import { columnRef } from '../parse/nodes.js';
import { isTree, type Tree, visits } from '../parse/tree.js';
import { isCoalesce, mergedColumns } from './flatten/merged-columns.js';
import { armsOf } from './flatten/set-operations.js';

/** A SELECT within a query whose WHERE restricts the query to a partition. */
export interface RestrictionPoint {
  /** The fields on the path from the query to the SELECT. */
  readonly path: readonly string[];
  /** An expression for each of the partition's columns. */
  readonly columns: readonly Tree[];
}

export interface SelectPoint {
  readonly select: Tree;
  readonly columns: readonly Tree[];
}

export function rooted(root: Tree, restrictionPoints: readonly SelectPoint[]): RestrictionPoint[] {
  return restrictionPoints.map(({ select, columns }) => ({ path: pathTo(select, root)!, columns }));
}

/** Returns the points where a query is restricted by columns of its result; undefined if this cannot be written. */
export function pointsOf(select: Tree, positions: readonly number[], meaning: Meaning): SelectPoint[] | undefined {
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

/** Returns the points where a query is restricted by columns of an entry of its range table. */
export function pointsIn(
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

/** Returns a column as the query's WHERE can name it, or COALESCE of the columns that FULL JOIN merges. */
export function columnIn(expression: QueryNode, query: QueryNode): Tree | undefined {
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

function pathTo(node: Tree, at: unknown): string[] | undefined {
  if (at === node) return [];
  if (!isTree(at)) return undefined;
  for (const [key, child] of Object.entries(at)) {
    const path = pathTo(node, child);
    if (path) return [key, ...path];
  }
  return undefined;
}
