/** Leaves by their dot names. Names come from outside, so they are only ever looked up in a Map. */
export interface Leaves<Leaf> {
  readonly leaves: ReadonlyMap<string, Leaf>;
  /** What is wrong with the tree, a phrase each. */
  readonly faults: readonly string[];
}

/**
 * Walks a tree of plain objects whose keys, joined by dots, name its leaves; keys may hold dots themselves.
 *
 * @param isLeaf tells what is looked for
 * @param wanted what any other value than a leaf or an object should have been
 */
export function collectLeaves<Leaf>(
  tree: object,
  isLeaf: (node: unknown) => node is Leaf,
  wanted: string,
): Leaves<Leaf> {
  const leaves = new Map<string, Leaf>();
  const faults: string[] = [];
  const collect = (node: object, prefix: string): void => {
    for (const [key, child] of Object.entries(node)) {
      const name = prefix + key;
      if (isLeaf(child)) {
        if (name.split('.').includes('')) faults.push(`"${name}" has an empty segment`);
        else if (leaves.has(name)) faults.push(`"${name}" is defined twice`);
        else leaves.set(name, child);
      } else if (typeof child === 'object' && child !== null) {
        collect(child, `${name}.`);
      } else {
        faults.push(`"${name}" is not ${wanted}`);
      }
    }
  };
  collect(tree, '');
  return { leaves, faults };
}
