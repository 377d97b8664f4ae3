/** The leaves of a tree. Names come from clients, so they are looked up only in a Map. */
export interface Leaves<Leaf> {
  /** The leaves by their dotted names. */
  readonly leaves: ReadonlyMap<string, Leaf>;
  /** The faults of the tree, as phrases. */
  readonly faults: readonly string[];
}

/**
 * Collects the leaves of a tree of plain objects. A leaf's name consists of the keys on its path, joined by dots. Keys
 * may contain dots.
 *
 * @param isLeaf returns true for a leaf
 * @param expected describes a leaf, for faults about values that are neither leaves nor objects
 */
export function collectLeaves<Leaf>(
  tree: object,
  isLeaf: (node: unknown) => node is Leaf,
  expected: string,
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
        faults.push(`"${name}" is not ${expected}`);
      }
    }
  };
  collect(tree, '');
  return { leaves, faults };
}
