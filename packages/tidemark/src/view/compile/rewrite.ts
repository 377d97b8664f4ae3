/** Rewrites a view's query so that it reads other states of its tables. Pure: tree in, tree out. */
import { conjuncts } from '../parse/conditions.js';
import { scopesOf } from '../parse/scopes.js';
import { cloneTree, isTree, type Tree, visits } from '../parse/tree.js';

/** The state that an occurrence of a table reads: the WITH query with this name, or `now` for the table itself. */
export type TableState = string | 'now';

/**
 * Returns the query with each occurrence of a table reading its state.
 *
 * @param tableStates one for each occurrence, in the order of `tablesIn`
 * @param focuses occurrences from which every row of the result must derive. If they are in some branches of an OR or a
 * UNION, the other branches become false or empty, so that they add no unrelated rows
 */
export function rewrite(select: Tree, tableStates: readonly TableState[], focuses: readonly number[]): Tree {
  const tree = cloneTree(select);
  const tables = scopesOf(tree).tables;
  tables.forEach((range, i) => {
    if (tableStates[i] !== 'now') replaceRange(range, tableStates[i]!);
  });
  const focused = focuses.map((i) => tables[i]!);
  keepOnly(tree, focused);
  return tree;
}

/** Returns the RangeVars through which a query reads tables. */
export function tablesIn(select: Tree): readonly Tree[] {
  return scopesOf(select).tables;
}

function replaceRange(range: Tree, state: string): void {
  range.alias ??= { aliasname: range.relname };
  range.relname = state;
  delete range.schemaname;
  delete range.catalogname;
}

/**
 * Returns sets of occurrences such that every change of the result comes from one of the sets. Each factor of a join
 * has a set with one occurrence. The arms of a UNION are independent, so a set has one occurrence in each arm.
 *
 * @param isChanged for each occurrence, whether the sets include it
 */
export function focusSets(select: Tree, isChanged: readonly boolean[]): number[][] {
  const indexes = new Map(tablesIn(select).map((range, i) => [range, i]));
  const setsIn = (value: unknown): number[][] => {
    if (!isTree(value)) return [];
    const index = indexes.get(value);
    if (index !== undefined) return isChanged[index] ? [[index]] : [];
    const { op, larg, rarg } = value;
    if (op === 'SETOP_UNION') return zip(setsIn(larg), setsIn(rarg));
    return Object.values(value).flatMap(setsIn);
  };
  return setsIn(select);
}

function zip(one: readonly number[][], other: readonly number[][]): number[][] {
  return Array.from({ length: Math.max(one.length, other.length) }, (_, i) => [...(one[i] ?? []), ...(other[i] ?? [])]);
}

function keepOnly(tree: Tree, focuses: readonly Tree[]): void {
  const onTheWay = ancestorsOf(tree, new Set<unknown>(focuses));
  prune(tree, onTheWay);
  for (const { node } of visits({ SelectStmt: tree })) {
    if (node.boolop === 'AND_EXPR') node.args = (node.args as Tree[]).flatMap(conjuncts);
  }
}

/** Returns the nodes that contain one of these nodes, including the nodes themselves. */
function ancestorsOf(tree: Tree, nodes: ReadonlySet<unknown>): ReadonlySet<unknown> {
  const ancestors = new Set<unknown>();
  const visit = (value: unknown): boolean => {
    if (!isTree(value)) return false;
    const below = Object.values(value).map(visit);
    const holds = nodes.has(value) || below.includes(true);
    if (holds) ancestors.add(value);
    return holds;
  };
  visit(tree);
  return ancestors;
}

function prune(value: unknown, onTheWay: ReadonlySet<unknown>): void {
  if (!onTheWay.has(value)) return;
  const node = value as Tree;
  const or = node.BoolExpr as Tree | undefined;
  if (or?.boolop === 'OR_EXPR') {
    // The branch replaces the OR instead of remaining in "false OR …", because Postgres turns subqueries into joins
    // before it folds constants.
    const branch = (or.args as Tree[]).find((arg) => onTheWay.has(arg))!;
    delete node.BoolExpr;
    prune(Object.assign(node, branch), onTheWay);
    return;
  }
  if (node.op === 'SETOP_UNION') {
    for (const arm of [node.larg, node.rarg] as Tree[]) if (!onTheWay.has(arm)) makeEmpty(arm);
  }
  for (const child of Object.values(node)) prune(child, onTheWay);
}

function makeEmpty(select: Tree): void {
  if (select.op === 'SETOP_NONE') {
    select.whereClause = { A_Const: { boolval: {} } };
  } else {
    makeEmpty(select.larg as Tree);
    makeEmpty(select.rarg as Tree);
  }
}
