/** Restricts a query to partitions. Pure: tree in, tree out. */
import { allOf, conjuncts } from '../parse/conditions.js';
import { columnRef, integer } from '../parse/nodes.js';
import { cloneTree, type Tree } from '../parse/tree.js';
import { equals } from './flatten/conditions.js';
import type { RestrictionPoint } from './restriction-points.js';

/**
 * `one`: the partition in a row `tidemark_c` without nulls. `one with nulls`: the same, where columns may be null.
 * `all`: the partitions without nulls in a query `tidemark_c`. `others`: everything that belongs to none of these.
 */
export type Restriction = 'one' | 'one with nulls' | 'all' | 'others';

const partitions = 'tidemark_c';

/** @param select is modified in place */
export function restrict(select: Tree, restrictionPoints: readonly RestrictionPoint[], restriction: Restriction): void {
  const kind = restriction === 'one with nulls' ? 'AEXPR_NOT_DISTINCT' : 'AEXPR_OP';
  const isOfRow = (column: Tree, i: number) => compared(column, kind, columnRef(partitions, `tidemark_r${i + 1}`));
  addTo(select, restrictionPoints, (columns) => {
    if (restriction === 'all') return [isAmong(columns)];
    return restriction === 'others' ? [isOfNone(columns.map(isOfRow))] : columns.map(isOfRow);
  });
}

/**
 * Restricts a query to the partition with these values, none of which is null.
 * @param select is modified in place
 */
export function restrictTo(
  select: Tree,
  restrictionPoints: readonly RestrictionPoint[],
  values: readonly Tree[],
): void {
  addTo(select, restrictionPoints, (columns) => columns.map((column, i) => compared(column, 'AEXPR_OP', values[i]!)));
}

function addTo(
  select: Tree,
  restrictionPoints: readonly RestrictionPoint[],
  conditions: (columns: readonly Tree[]) => Tree[],
): void {
  for (const { path, columns } of restrictionPoints) {
    const at = path.reduce((tree, field) => tree[field] as Tree, select);
    at.whereClause = allOf([...conjuncts(at.whereClause), ...conditions(columns).map(cloneTree)]);
  }
}

function compared(lexpr: Tree, kind: string, rexpr: Tree): Tree {
  return { A_Expr: { kind, name: equals, lexpr, rexpr } };
}

const fromPartitions = {
  fromClause: [{ RangeVar: { relname: partitions, inh: true, relpersistence: 'p' } }],
  op: 'SETOP_NONE',
};

function isAmong(columns: readonly Tree[]): Tree {
  const targetList = columns.map((_, i) => ({ ResTarget: { val: columnRef(partitions, `tidemark_r${i + 1}`) } }));
  const subselect = { SelectStmt: { ...fromPartitions, targetList, limitOption: 'LIMIT_OPTION_DEFAULT' } };
  const testexpr =
    columns.length === 1 ? columns[0] : { RowExpr: { args: columns, row_format: 'COERCE_IMPLICIT_CAST' } };
  return { SubLink: { subLinkType: 'ANY_SUBLINK', testexpr, subselect } };
}

/** OFFSET 0 makes Postgres check the partitions row by row, so that the rows keep the order of an index. */
function isOfNone(conditions: readonly Tree[]): Tree {
  const limit = { limitOffset: integer(0), limitOption: 'LIMIT_OPTION_COUNT' };
  const subselect = { SelectStmt: { ...fromPartitions, whereClause: allOf(conditions), ...limit } };
  return { BoolExpr: { boolop: 'NOT_EXPR', args: [{ SubLink: { subLinkType: 'EXISTS_SUBLINK', subselect } }] } };
}
