/** Splits and combines conditions. Pure. */
import type { Tree } from './tree.js';

/** Returns the parts of a condition that must all hold. For `(a AND b) AND c`, as for the parser, there are three. */
export function conjuncts(condition: unknown): Tree[] {
  if (!condition) return [];
  const { boolop, args } = boolOf(condition as Tree);
  return boolop === 'AND_EXPR' ? args!.flatMap(conjuncts) : [condition as Tree];
}

/** Returns the alternatives of an OR; none for any other condition. */
export function disjuncts(condition: Tree): Tree[] {
  const { boolop, args } = boolOf(condition);
  return boolop === 'OR_EXPR' ? args! : [];
}

/** Returns a condition that holds if all of these do. */
export function allOf(conditions: readonly Tree[]): Tree {
  return conditions.length === 1 ? conditions[0]! : { BoolExpr: { boolop: 'AND_EXPR', args: conditions } };
}

function boolOf({ BoolExpr }: Tree): { boolop?: string; args?: Tree[] } {
  return (BoolExpr ?? {}) as { boolop?: string; args?: Tree[] };
}
