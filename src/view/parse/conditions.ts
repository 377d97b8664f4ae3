/** Takes conditions apart and puts them together. Pure. */
import type { Tree } from './tree.js';

/** The parts of a condition that must all hold, as the parser reads them: `(a AND b) AND c` is one AND of three. */
export function conjuncts(condition: unknown): Tree[] {
  if (!condition) return [];
  const { boolop, args } = boolOf(condition as Tree);
  return boolop === 'AND_EXPR' ? args!.flatMap(conjuncts) : [condition as Tree];
}

/** The alternatives of an OR; none of any other condition. */
export function disjuncts(condition: Tree): Tree[] {
  const { boolop, args } = boolOf(condition);
  return boolop === 'OR_EXPR' ? args! : [];
}

/** A condition that holds if all of some do. */
export function allOf(conditions: readonly Tree[]): Tree {
  return conditions.length === 1 ? conditions[0]! : { BoolExpr: { boolop: 'AND_EXPR', args: conditions } };
}

function boolOf({ BoolExpr }: Tree): { boolop?: string; args?: Tree[] } {
  return (BoolExpr ?? {}) as { boolop?: string; args?: Tree[] };
}
