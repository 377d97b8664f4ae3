/** The ways to shrink a tree by one step, those that remove the most first. */
import {
  childrenOf,
  isList,
  isSequence,
  type List,
  nodesOf,
  type Sequence,
  seq,
  type Tree,
  withChildren,
} from './tree.js';

export type Edit<T> = () => T;

/** Every smaller tree that is one step away. */
export function* treeEdits(tree: Tree): Generator<Edit<Tree>> {
  yield* ownEdits(tree);
  const repeated = new Map(
    [...nodesOf(tree)].flatMap((node) => (isRepeated(node) ? [[node.same, node] as const] : [])),
  );
  for (const node of repeated.values()) {
    for (const edit of ownEdits(seq(...node.parts))) {
      yield () => replacing(tree, node.same, childrenOf(edit()));
    }
  }
}

function isRepeated(tree: Tree): tree is Sequence & { readonly same: number } {
  return isSequence(tree) && tree.same !== undefined;
}

function* ownEdits(tree: Tree): Generator<Edit<Tree>> {
  yield* editsHere(tree);
  const children = childrenOf(tree);
  for (const [i, child] of children.entries()) {
    if (isRepeated(child) || (isSequence(child) && child.isFixed)) continue;
    for (const edit of ownEdits(child)) yield () => withChildren(tree, children.with(i, edit()));
  }
}

function replacing(tree: Tree, same: number, parts: readonly Tree[]): Tree {
  if (isRepeated(tree) && tree.same === same) return { ...tree, parts };
  const children = childrenOf(tree);
  return children.length === 0
    ? tree
    : withChildren(
        tree,
        children.map((child) => replacing(child, same, parts)),
      );
}

function* editsHere(tree: Tree): Generator<Edit<Tree>> {
  if (isList(tree)) yield* listEdits(tree);
  if (!isSequence(tree) || tree.kind === undefined) return;
  const { kind, least } = tree;
  if (least !== undefined && !(tree.parts.length === 1 && tree.parts[0] === least)) {
    yield () => ({ kind, least, parts: [least] });
  }
  for (const node of nodesOf(tree)) {
    if (node !== tree && isSequence(node) && node.kind === kind) yield () => node;
  }
}

/** Removes chunks of items: all, halves, quarters, down to single ones. */
function* listEdits(tree: List): Generator<Edit<Tree>> {
  for (const items of shorter(tree.items)) {
    const isWhole = tree.items.every((item) => items.includes(item) || !(isSequence(item) && item.isFixed));
    if (isWhole && items.length >= tree.min) yield () => ({ ...tree, items });
  }
}

/** The items without a chunk, the largest chunks first. */
export function* shorter<T>(items: readonly T[]): Generator<T[]> {
  for (let size = items.length; size > 0; size = Math.floor(size / 2)) {
    for (let from = 0; from < items.length; from += size) {
      yield [...items.slice(0, from), ...items.slice(from + size)];
    }
  }
}

export function tagsOf(tree: Tree): string[] {
  return [...nodesOf(tree)].flatMap((node) => (isSequence(node) && node.tag !== undefined ? [node.tag] : []));
}

/** Removes everything with the tag. List items are dropped, and required parts become the simplest ones possible. */
export function withoutTag(tree: Tree, tag: string): Tree {
  if (typeof tree === 'string' || 'parameter' in tree) return tree;
  const has = (node: Tree) => isSequence(node) && node.tag === tag;
  if (isSequence(tree) && has(tree) && tree.least !== undefined) return tree.least;
  const kept = isList(tree) ? childrenOf(tree).filter((child) => !has(child)) : childrenOf(tree);
  return withChildren(
    tree,
    (isList(tree) && kept.length < tree.min ? tree.items : kept).map((child) => withoutTag(child, tag)),
  );
}
