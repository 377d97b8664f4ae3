/** The leaves of a tree. Names come from outside, so they are looked up only in a Map. */
export interface Leaves<Leaf> {
  /** The leaves by their names with dots. */
  readonly leaves: ReadonlyMap<string, Leaf>;
  /** What is wrong with the tree, as phrases. */
  readonly faults: readonly string[];
}

/**
 * Collects the leaves of a tree of plain objects. A leaf's name is made of the keys above it, joined by dots; keys may
 * contain dots themselves.
 *
 * @param isLeaf whether a value is a leaf
 * @param wanted what a value that is neither a leaf nor an object should have been, for the faults
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
