/** The arms of set operations. Pure. */
import { targets, typeOf } from '../../analysis/expressions.js';
import type { Meaning, Operation } from '../../analysis/meaning.js';
import type { Tree } from '../../parse/tree.js';

/** Returns the queries that a set operation combines, including those of nested set operations. */
export function armsOf(select: Tree, meaning: Meaning): Tree[] {
  return [select.larg, select.rarg].flatMap((arm) =>
    meaning.queryOf(arm as Tree) ? [arm as Tree] : armsOf(arm as Tree, meaning),
  );
}

/** True if a column of a set operation has the same type in an arm. */
export function keepsType(arm: Tree, { node }: Operation, i: number, meaning: Meaning): boolean {
  const query = meaning.operationOf(arm)?.arms[0] ?? meaning.queryOf(arm)!;
  // The first item of the list is a letter for the kind of its items.
  return typeOf(targets(query)[i]!) === Number((node.fields.colTypes as readonly string[])[i + 1]);
}
