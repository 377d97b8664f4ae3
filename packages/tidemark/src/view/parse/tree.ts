/** The parse tree of Postgres's own parser (libpg-query), as plain JSON, and ways to walk it. */

/** A node's fields, or an object that holds one node under its type's name: `{ RangeVar: { relname: 'todo' } }`. */
export type Tree = { [field: string]: unknown };

/** Checks whether a value can contain nodes: a node, an object that holds one, or a list. */
export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null;
}

/** Returns a deep copy that can be modified. */
export function cloneTree(tree: Tree): Tree {
  return structuredClone(tree);
}

/** A node, with the name of its type. */
export interface Visit {
  readonly type: string;
  readonly node: Tree;
}

/**
 * Yields every node below a value, outermost first. The arms of a set operation, which have no type name in the tree,
 * count as SelectStmt.
 */
export function visits(value: unknown): Generator<Visit> {
  return walk(value, () => true);
}

/** Yields the nodes of a SELECT itself. Its subqueries are included, but nothing below them. */
export function visitsHere(select: Tree): Generator<Visit> {
  return walk(select, (type) => type !== 'SelectStmt');
}

/**
 * Walks with an explicit stack. A long UNION is a deep tree, and passing each node up through nested generators takes
 * quadratic time.
 */
function* walk(value: unknown, shouldDescend: (type: string | undefined) => boolean): Generator<Visit> {
  const left = childrenOf(value);
  for (let next = left.pop(); next; next = left.pop()) {
    const [key, child] = next;
    const type = nodeType(key, child);
    if (type) yield { type, node: child as Tree };
    if (!shouldDescend(type)) continue;
    for (const below of childrenOf(child)) left.push(below);
  }
}

/** Returns the children of a value, last one first. */
function childrenOf(value: unknown): [key: string, child: unknown][] {
  return isTree(value) ? Object.entries(value).reverse() : [];
}

function nodeType(key: string, child: unknown): string | undefined {
  if (!isTree(child) || Array.isArray(child)) return undefined;
  if (/^[A-Z]/.test(key)) return key;
  return (key === 'larg' || key === 'rarg') && 'op' in child ? 'SelectStmt' : undefined;
}

/** Returns the strings of a name list such as `[{ String: { sval: 'public' } }, …]`. */
export function names(list: unknown): string[] {
  return ((list ?? []) as { String?: { sval: string } }[]).map((item) => item.String?.sval ?? '*');
}

/** Returns the SELECT in a node that holds one. */
export function selectIn(node: unknown): Tree {
  return (node as { SelectStmt: Tree }).SelectStmt;
}
