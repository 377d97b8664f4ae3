/** SQL in the making: text, and what may be left out of it or replaced by something simpler. */

export type Tree = string | Sequence | List | Parameter;

/** Parts, one after another. */
export interface Sequence {
  readonly parts: readonly Tree[];
  /** A part below of the same kind can stand in its place. */
  readonly kind?: string;
  /** The simplest text that can. */
  readonly least?: string;
  /** What belongs together, such as all that names one column, goes together. */
  readonly tag?: string;
  readonly mark?: Mark;
  /** What is sure of the query rests on it: it goes with its tag alone. */
  readonly isFixed?: true;
  /** It stands in several places, and changes in all of them at once. */
  readonly same?: number;
  /** It stands only in the text for a full read: what the library is to add by itself. */
  readonly isExpected?: true;
}

/** Items with something between them. Where there are none, `before` and `after` go too. */
export interface List {
  readonly items: readonly Tree[];
  readonly by: string;
  readonly min: number;
  readonly before: string;
  readonly after: string;
}

/** A parameter of a view: its value for each user, and for one who never pulls. The same number is the same parameter. */
export interface Parameter {
  readonly parameter: number;
  readonly values: readonly unknown[];
}

/** What speaks against a query that has this in it. */
export interface Mark {
  readonly reason: string;
  /** `illegal`: it must be refused. `chance`: it must be refused, or made certain. */
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

/** What must stay as long as what it is of. */
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

/** What may go as a whole. */
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

/** The same with other children. */
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

/** @param forRead with what the library is to add by itself */
export function write(tree: Tree, forRead = false): Written {
  const parameters: Parameter[] = [];
  const numberOf = (parameter: Parameter): number => {
    const known = parameters.findIndex((other) => other.parameter === parameter.parameter);
    return known >= 0 ? known + 1 : parameters.push(parameter);
  };
  const text = (node: Tree): string => {
    if (typeof node === 'string') return node;
    if ('parameter' in node) return `$${numberOf(node)}`;
    if (isSequence(node)) return node.isExpected && !forRead ? '' : node.parts.map(text).join('');
    return node.items.length === 0 ? '' : `${node.before}${node.items.map(text).join(node.by)}${node.after}`;
  };
  return { text: text(tree), parameters };
}

/** The text of what has no parameters. */
export function textOf(tree: Tree): string {
  return write(tree).text;
}
