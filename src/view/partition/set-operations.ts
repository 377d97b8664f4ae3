/** The queries that set operations combine. Pure. */
import { targets, typeOf } from '../analysis/expressions.js';
import type { Meaning, Operation } from '../analysis/meaning.js';
import type { Tree } from '../parse/tree.js';

/** The queries that a set operation combines. An arm that Postgres analyzes as a query of its own is one. */
export function armsOf(select: Tree, meaning: Meaning): Tree[] {
  return [select.larg, select.rarg].flatMap((arm) =>
    meaning.queryOf(arm as Tree) ? [arm as Tree] : armsOf(arm as Tree, meaning),
  );
}

/** True if a column of a set operation has the type that it has in an arm. */
export function keepsType(arm: Tree, { node }: Operation, i: number, meaning: Meaning): boolean {
  const query = meaning.operationOf(arm)?.arms[0] ?? meaning.queryOf(arm)!;
  // The list begins with a letter for the kind of its items.
  return typeOf(targets(query)[i]!) === Number((node.fields.colTypes as readonly string[])[i + 1]);
}
