/** The parse tree of Postgres's own parser (libpg-query), as plain JSON, and the walks over it. */

/** A node's fields, or an object holding one node under its type's name: `{ RangeVar: { relname: 'todo' } }`. */
export type Tree = { [field: string]: unknown };

/** Whether there is more of a tree below: in a node, an object that holds one, or a list. */
export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null;
}

/** A deep copy that can be changed. */
export function cloneTree(tree: Tree): Tree {
  return structuredClone(tree);
}

export interface Visit {
  readonly type: string;
  readonly node: Tree;
}

/**
 * Every node below a value, outermost first. The arms of a set operation, which the tree holds bare, count as
 * SelectStmt.
 */
export function visits(value: unknown): Generator<Visit> {
  return walk(value, () => true);
}

/** What stands in a SELECT itself: its subqueries, and nothing below them. */
export function visitsHere(select: Tree): Generator<Visit> {
  return walk(select, (type) => type !== 'SelectStmt');
}

/**
 * With a stack of its own: a long UNION is a deep tree, and to pass each node up through all generators above takes
 * quadratic time.
 */
function* walk(value: unknown, isEntered: (type: string | undefined) => boolean): Generator<Visit> {
  const left = childrenOf(value);
  for (let next = left.pop(); next; next = left.pop()) {
    const [key, child] = next;
    const type = nodeType(key, child);
    if (type) yield { type, node: child as Tree };
    if (!isEntered(type)) continue;
    for (const below of childrenOf(child)) left.push(below);
  }
}

/** The last first. */
function childrenOf(value: unknown): [key: string, child: unknown][] {
  return isTree(value) ? Object.entries(value).reverse() : [];
}

function nodeType(key: string, child: unknown): string | undefined {
  if (!isTree(child) || Array.isArray(child)) return undefined;
  if (/^[A-Z]/.test(key)) return key;
  return (key === 'larg' || key === 'rarg') && 'op' in child ? 'SelectStmt' : undefined;
}

/** The strings of a name list such as `[{ String: { sval: 'public' } }, …]`. */
export function names(list: unknown): string[] {
  return ((list ?? []) as { String?: { sval: string } }[]).map((item) => item.String?.sval ?? '*');
}
