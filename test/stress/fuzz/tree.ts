/** A tree of SQL text, with parts that can be removed or replaced by simpler ones. */

export type Tree = string | Sequence | List | Parameter;

/** Parts, one after another. */
export interface Sequence {
  readonly parts: readonly Tree[];
  /** A part below with the same kind can replace it. */
  readonly kind?: string;
  /** The simplest text that can replace it. */
  readonly least?: string;
  /** Parts with one tag are removed together, such as all that name one column. */
  readonly tag?: string;
  readonly mark?: Mark;
  /** The query's determinism depends on it, so it is removed only with its tag. */
  readonly isFixed?: true;
  /** Occurs in several places, and changes in all of them together. */
  readonly same?: number;
  /** Occurs only in the text for a full read. The library must add it. */
  readonly isExpected?: true;
}

/** Items with separators. Without items, `before` and `after` are omitted. */
export interface List {
  readonly items: readonly Tree[];
  readonly by: string;
  readonly min: number;
  readonly before: string;
  readonly after: string;
}

/** A parameter of a view: its value for each user, and for one who never pulls. Equal numbers are one parameter. */
export interface Parameter {
  readonly parameter: number;
  readonly values: readonly unknown[];
}

/** An objection to queries that contain this. */
export interface Mark {
  readonly reason: string;
  /** `illegal`: it must be refused. `chance`: it must be refused, or made deterministic. */
  readonly kind: 'illegal' | 'chance';
}

export function seq(...parts: readonly Tree[]): Sequence {
  return { parts };
}

/** A part that others of its kind can replace, and that can replace others. */
export function part(kind: string, least: string, ...parts: readonly Tree[]): Sequence {
  return { kind, least, parts };
}

export function marked(mark: Mark, ...parts: readonly Tree[]): Sequence {
  return { mark, parts };
}

export function tagged(tag: string, ...parts: readonly Tree[]): Sequence {
  return { tag, parts };
}

/** A part that must stay as long as its tag. */
export function fixed(tag: string, ...parts: readonly Tree[]): Sequence {
  return { tag, isFixed: true, parts };
}

export interface ListOptions {
  readonly by?: string;
  readonly min?: number;
  readonly before?: string;
  readonly after?: string;
}

export function list(items: readonly Tree[], { by = ', ', min = 0, before = '', after = '' }: ListOptions = {}): List {
  return { items, by, min, before, after };
}

/** A part that can be removed as a whole. */
export function optional(...parts: readonly Tree[]): List {
  return list([seq(...parts)]);
}

export function isSequence(tree: Tree): tree is Sequence {
  return typeof tree === 'object' && 'parts' in tree;
}

export function isList(tree: Tree): tree is List {
  return typeof tree === 'object' && 'items' in tree;
}

export function childrenOf(tree: Tree): readonly Tree[] {
  if (isSequence(tree)) return tree.parts;
  return isList(tree) ? tree.items : [];
}

/** A copy with other children. */
export function withChildren(tree: Tree, children: readonly Tree[]): Tree {
  if (isSequence(tree)) return { ...tree, parts: children };
  return isList(tree) ? { ...tree, items: children } : tree;
}

export function* nodesOf(tree: Tree): Generator<Tree> {
  yield tree;
  for (const child of childrenOf(tree)) yield* nodesOf(child);
}

export function marksOf(tree: Tree): Mark[] {
  return [...nodesOf(tree)].flatMap((node) => (isSequence(node) && node.mark ? [node.mark] : []));
}

export interface Written {
  readonly text: string;
  /** The parameters `$1…`, in order. */
  readonly parameters: readonly Parameter[];
}

/** @param forRead True to include what the library must add. */
export function write(tree: Tree, forRead = false): Written {
  const parameters: Parameter[] = [];
  const numberOf = (parameter: Parameter): number => {
    const index = parameters.findIndex((other) => other.parameter === parameter.parameter);
    return index >= 0 ? index + 1 : parameters.push(parameter);
  };
  const text = (node: Tree): string => {
    if (typeof node === 'string') return node;
    if ('parameter' in node) return `$${numberOf(node)}`;
    if (isSequence(node)) return node.isExpected && !forRead ? '' : node.parts.map(text).join('');
    return node.items.length === 0 ? '' : `${node.before}${node.items.map(text).join(node.by)}${node.after}`;
  };
  return { text: text(tree), parameters };
}

/** The text of a tree without parameters. */
export function textOf(tree: Tree): string {
  return write(tree).text;
}
