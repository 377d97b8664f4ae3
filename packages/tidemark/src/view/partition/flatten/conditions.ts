/**
 * Decides which conditions a companion query keeps. Because it drops the others, it evaluates each condition also for
 * rows that the view's query filters out first. So a kept condition must never fail. Pure.
 */
import { columnRef, put } from '../../parse/nodes.js';
import { cloneTree, isTree, names, type Tree, visits } from '../../parse/tree.js';
import type { Column } from './joins.js';

const comparisons = new Set(['=', '<>', '!=', '<', '>', '<=', '>=']);
const comparing = new Set(['AEXPR_OP', 'AEXPR_IN', 'AEXPR_OP_ANY', 'AEXPR_DISTINCT', 'AEXPR_NOT_DISTINCT']);

/** True if a condition consists of comparisons of columns and constants, whose evaluation cannot fail. */
function cannotFail(condition: unknown): boolean {
  const [type, node] = Object.entries(condition as Tree)[0] as [string, Tree];
  if (type === 'BoolExpr') return (node.args as Tree[]).every(cannotFail);
  if (type === 'NullTest' || type === 'BooleanTest') return isOperand(node.arg);
  if (type === 'ColumnRef' || type === 'A_Const') return true;
  return type === 'A_Expr' && isComparison(node) && isOperand(node.lexpr) && isOperand(node.rexpr);
}

/** @param node an A_Expr */
export function isComparison({ kind, name }: Tree): boolean {
  return comparing.has(kind as string) && comparisons.has(names(name).at(-1)!);
}

function isOperand(value: unknown): boolean {
  const [type, node] = Object.entries(value as Tree)[0] as [string, Tree];
  if (type === 'List') return (node.items as Tree[]).every(isOperand);
  return type === 'ColumnRef' || isConstant(value);
}

/** True if an expression has one value for all rows. If its evaluation fails, it also fails in the view's query. */
export function isConstant(value: unknown): boolean {
  const [type, node] = Object.entries(value as Tree)[0] as [string, Tree];
  if (type === 'TypeCast') return isConstant(node.arg);
  return type === 'A_Const' || type === 'ParamRef';
}

/**
 * Returns a condition over the columns of a join; undefined if it refers to anything else, or could fail.
 * @param columnOf resolves a column reference
 */
export function translated(condition: Tree, columnOf: (node: Tree) => Column | undefined): Tree | undefined {
  if (!cannotFail(condition)) return undefined;
  const copy = { condition: cloneTree(condition) };
  for (const holder of referencesIn(copy)) {
    const column = columnOf(holder.ColumnRef as Tree);
    if (!column) return undefined;
    put(holder, refTo(column));
  }
  return copy.condition;
}

/** Returns an operand over the columns of a join; undefined if it is neither one of these nor a constant. */
export function translatedOperand(value: Tree, columnOf: (node: Tree) => Column | undefined): Tree | undefined {
  if (isConstant(value)) return value;
  const column = value.ColumnRef ? columnOf(value.ColumnRef as Tree) : undefined;
  return column ? refTo(column) : undefined;
}

export function refTo({ alias, name }: Column): Tree {
  return columnRef(alias, name);
}

/** Returns the objects `{ ColumnRef: … }` in a value, without those in subqueries. */
function referencesIn(value: unknown): Tree[] {
  const references: Tree[] = [];
  const walk = (at: unknown): void => {
    if (!isTree(at)) return;
    for (const [key, child] of Object.entries(at)) {
      if (key === 'ColumnRef') references.push(at);
      else if (key !== 'SelectStmt') walk(child);
    }
  };
  walk(value);
  return references;
}

/** The name of the operator =. */
export const equals: readonly Tree[] = [{ String: { sval: '=' } }];

export function comparison(left: Tree, operator: unknown, right: Tree): Tree {
  return { A_Expr: { kind: 'AEXPR_OP', name: operator, lexpr: left, rexpr: right } };
}

export function isNull(arg: Tree): Tree {
  return { NullTest: { arg, nulltesttype: 'IS_NULL' } };
}

/** True if more rows in a condition's subqueries can only make it true. */
export function isMonotone(condition: Tree): boolean {
  const { SubLink: link, BoolExpr: bool } = condition as { SubLink?: Tree; BoolExpr?: Tree };
  if (bool && bool.boolop !== 'NOT_EXPR') return (bool.args as Tree[]).every(isMonotone);
  if (link) return isMembership(link) && !hasSubquery(link.testexpr);
  return !hasSubquery(condition);
}

function isMembership({ subLinkType }: Tree): boolean {
  return subLinkType === 'EXISTS_SUBLINK' || subLinkType === 'ANY_SUBLINK';
}

export function hasSubquery(value: unknown): boolean {
  for (const { type } of visits({ value })) if (type === 'SelectStmt') return true;
  return false;
}
