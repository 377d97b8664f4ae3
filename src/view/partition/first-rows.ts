/**
 * Queries for the first rows of others, by ORDER BY with LIMIT. Which rows came first in an earlier state follows from
 * the rows that come first now and the rows of the partitions that changes affect: the others are the same in both states.
 * Pure: tree in, tree out.
 */
import { columnRef } from '../parse/nodes.js';
import { cloneTree, type Tree } from '../parse/tree.js';
import { isDistinctOn, isLimited } from '../settle/order.js';

/**
 * True if a query is for a bounded number of first rows, in an order that can be written over its result.
 * @param columns the names of the result's columns
 */
export function isForFirstRows(select: Tree, columns: readonly string[]): boolean {
  const { limitCount, limitOption, sortClause, op, distinctClause } = select;
  const isBounded = limitCount !== undefined && isLimited({ limitCount }) && limitOption === 'LIMIT_OPTION_COUNT';
  const canHaveMore = op === 'SETOP_NONE' && (!distinctClause || isDistinctOn(select));
  return isBounded && sortClause !== undefined && (canHaveMore || expressionsOf(select, columns).length === 0);
}

/**
 * The query for the first rows as of an earlier state.
 * @param now the query over the tables as they are, restricted to partitions that changes do not affect
 * @param before the query over the tables as of that state, restricted to partitions that changes affect
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

/** What a query sorts by that is no column of its result. */
function expressionsOf(select: Tree, columns: readonly string[]): Tree[] {
  return sortsOf(select)
    .map(({ node }) => node)
    .filter((node) => !isOfResult(node, columns));
}

/** A name in ORDER BY is that of a column of the result, if there is one; a number is the place of one. */
function isOfResult(node: Tree, columns: readonly string[]): boolean {
  const [name, ...others] = ((node.ColumnRef as Tree | undefined)?.fields ?? []) as { String?: { sval: string } }[];
  const isName = others.length === 0 && name?.String !== undefined && columns.includes(name.String.sval);
  return node.A_Const !== undefined || isName;
}

function nameOf(place: number): string {
  return `tidemark_o${place + 1}`;
}

/** A query whose result also has what it sorts by. */
function withExpressions(select: Tree, columns: readonly string[]): Tree {
  const added = expressionsOf(select, columns).map((val, i) => ({
    ResTarget: { name: nameOf(i), val: cloneTree(val) },
  }));
  return added.length === 0 ? select : { ...select, targetList: [...(select.targetList as Tree[]), ...added] };
}

/** The ORDER BY of a query, over the result of `withExpressions`. */
function orderOver(select: Tree, columns: readonly string[]): Tree[] {
  const expressions = expressionsOf(select, columns);
  return sortsOf(select).map((sort) => {
    const place = expressions.indexOf(sort.node);
    return { SortBy: place < 0 ? sort : { ...sort, node: columnRef(nameOf(place)) } };
  });
}

/** A query for all rows. Its order stays where it decides which rows DISTINCT ON chooses. */
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
