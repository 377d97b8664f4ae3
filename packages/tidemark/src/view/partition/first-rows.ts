/**
 * Finds the first rows of a query with ORDER BY and LIMIT in an earlier state. They follow from the current first rows
 * and the rows of the affected partitions, because all other rows are the same in both states. Pure: tree in, tree out.
 */

import { isDistinctOn, isLimited } from '../determinism/order.js';
import { columnRef } from '../parse/nodes.js';
import { cloneTree, type Tree } from '../parse/tree.js';

/**
 * True if a query returns a bounded number of first rows, in an order that can be written over its result.
 * @param columns the names of the result's columns
 */
export function isForFirstRows(select: Tree, columns: readonly string[]): boolean {
  const { limitCount, limitOption, sortClause, op, distinctClause } = select;
  const isBounded = limitCount !== undefined && isLimited({ limitCount }) && limitOption === 'LIMIT_OPTION_COUNT';
  const canHaveMore = op === 'SETOP_NONE' && (!distinctClause || isDistinctOn(select));
  return isBounded && sortClause !== undefined && (canHaveMore || expressionsOf(select, columns).length === 0);
}

/**
 * Returns the query for the first rows in an earlier state.
 * @param now the query over the current state of the tables, restricted to partitions that changes do not affect
 * @param before the query over the earlier state of the tables, restricted to partitions that changes affect
 * @param columns the names of the result's columns
 */
export function firstRowsBefore(now: Tree, before: Tree, columns: readonly string[]): Tree {
  const { limitCount, limitOffset } = now as Record<string, Tree>;
  const parts = {
    op: 'SETOP_UNION',
    all: true,
    larg: {
      ...without(withExpressions(now, columns), 'limitOffset'),
      limitCount: limitOffset ? sum(limitCount!, limitOffset) : limitCount,
    },
    rarg: unlimited(withExpressions(before, columns)),
    limitOption: 'LIMIT_OPTION_DEFAULT',
  };
  return {
    targetList: columns.map((column) => ({ ResTarget: { val: columnRef(alias, column) } })),
    fromClause: [{ RangeSubselect: { subquery: { SelectStmt: parts }, alias: { aliasname: alias } } }],
    sortClause: orderOver(now, columns),
    limitCount,
    ...(limitOffset && { limitOffset }),
    limitOption: 'LIMIT_OPTION_COUNT',
    op: 'SETOP_NONE',
  };
}

const alias = 'tidemark_u';

interface SortBy extends Tree {
  readonly node: Tree;
}

function sortsOf({ sortClause }: Tree): SortBy[] {
  return ((sortClause ?? []) as { SortBy: SortBy }[]).map(({ SortBy }) => SortBy);
}

/** Returns the ORDER BY expressions that are not columns of the result. */
function expressionsOf(select: Tree, columns: readonly string[]): Tree[] {
  return sortsOf(select)
    .map(({ node }) => node)
    .filter((node) => !isOfResult(node, columns));
}

/** A name in ORDER BY refers to a column of the result if one has that name. A number is a column's position. */
function isOfResult(node: Tree, columns: readonly string[]): boolean {
  const [name, ...others] = ((node.ColumnRef as Tree | undefined)?.fields ?? []) as { String?: { sval: string } }[];
  const isName = others.length === 0 && name?.String !== undefined && columns.includes(name.String.sval);
  return node.A_Const !== undefined || isName;
}

function nameOf(index: number): string {
  return `tidemark_o${index + 1}`;
}

/** Adds the ORDER BY expressions to a query's result. */
function withExpressions(select: Tree, columns: readonly string[]): Tree {
  const added = expressionsOf(select, columns).map((val, i) => ({
    ResTarget: { name: nameOf(i), val: cloneTree(val) },
  }));
  return added.length === 0 ? select : { ...select, targetList: [...(select.targetList as Tree[]), ...added] };
}

/** Returns the ORDER BY of a query, over the result of `withExpressions`. */
function orderOver(select: Tree, columns: readonly string[]): Tree[] {
  const expressions = expressionsOf(select, columns);
  return sortsOf(select).map((sort) => {
    const index = expressions.indexOf(sort.node);
    return { SortBy: index < 0 ? sort : { ...sort, node: columnRef(nameOf(index)) } };
  });
}

/** Returns a query without its LIMIT. The order stays if it decides which rows DISTINCT ON keeps. */
function unlimited(select: Tree): Tree {
  const all = without(select, 'limitCount', 'limitOffset', ...(isDistinctOn(select) ? [] : ['sortClause']));
  return { ...all, limitOption: 'LIMIT_OPTION_DEFAULT' };
}

function without(tree: Tree, ...fields: readonly string[]): Tree {
  return Object.fromEntries(Object.entries(tree).filter(([field]) => !fields.includes(field)));
}

function sum(lexpr: Tree, rexpr: Tree): Tree {
  return { A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: '+' } }], lexpr, rexpr } };
}
