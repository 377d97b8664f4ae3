/**
 * Divides a view's rows into partitions, each of which is a function of a few rows of the view's tables. A delta then
 * evaluates the view only for the partitions that changes affect. Pure.
 */
import { targets } from '../analysis/expressions.js';
import type { Meaning } from '../analysis/meaning.js';
import { isNode, nodeList, type QueryNode } from '../analysis/query-tree.js';
import type { Tree } from '../parse/tree.js';
import { type CompanionQuery, companionsOf } from './companions.js';
import { flatten } from './flatten/flatten.js';
import type { Column, FlatJoin } from './flatten/joins.js';
import { dividingTargets, isNeverEmpty } from './flatten/outputs.js';
import { columnOfTarget, leavesOutRows, type QueryContext } from './flatten/resolve.js';
import { columnIn, pointsIn, pointsOf, type RestrictionPoint, rooted } from './restriction-points.js';

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
