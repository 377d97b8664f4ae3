/** The parse tree of Postgres's own parser (libpg-query), as plain JSON, and the walks over it. */

/** A node's fields, or an object holding one node under its type's name: `{ RangeVar: { relname: 'todo' } }`. */
export type Tree = { [field: string]: unknown };

/** A deep copy that can be changed. */
export function cloneTree(tree: Tree): Tree {
  return structuredClone(tree);
}

export interface Visit {
  readonly type: string;
  readonly node: Tree;
}

/** Every node below a value, outermost first. The arms of a set operation, which the tree holds bare, count as SelectStmt. */
export function* visits(value: unknown): Generator<Visit> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    const type = nodeType(key, child);
    if (type) yield { type, node: child as Tree };
    yield* visits(child);
  }
}

function nodeType(key: string, child: unknown): string | undefined {
  if (typeof child !== 'object' || child === null || Array.isArray(child)) return undefined;
  if (/^[A-Z]/.test(key)) return key;
  return (key === 'larg' || key === 'rarg') && 'op' in child ? 'SelectStmt' : undefined;
}

/** The strings of a name list such as `[{ String: { sval: 'public' } }, …]`. */
export function names(list: unknown): string[] {
  return ((list ?? []) as { String?: { sval: string } }[]).map((item) => item.String?.sval ?? '*');
}
