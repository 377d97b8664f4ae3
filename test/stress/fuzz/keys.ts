/** Finds the key of a query's rows. */
import { reference, type Source, type Visible, visibleIn } from './scope.js';
import { fixed, marked, seq, type Tree, textOf } from './tree.js';
import { castName, isNested, type SqlType } from './types.js';
import type { Site, Want, World } from './world.js';

/** A part of a key. */
export interface KeyPart {
  readonly tag: string;
  readonly tree: Tree;
  readonly type: SqlType;
  readonly isNotNull: boolean;
}

/** The key of all sources' rows together; undefined if a source has none. */
export function keyOf({ choices }: World, sources: readonly Source[]): KeyPart[] | undefined {
  if (sources.some(({ key }) => key === undefined)) return undefined;
  const merged = mergedKey(sources);
  if (merged && choices.percent(60)) return [merged];
  return sources.flatMap(({ key, tag }) =>
    key!.map((visible) => {
      const { type, isNotNull } = visible;
      return { tag, type, isNotNull, tree: fixed(tag, reference(choices, visible)) };
    }),
  );
}

/** The merged key of a join's two sides, if USING or NATURAL merges it: neither side has another row with it. */
function mergedKey(sources: readonly Source[]): KeyPart | undefined {
  const keys = sources.map(({ key }) => key!);
  const canBeNull = ({ isNotNull, isNullByJoin }: Visible) => !isNotNull && !isNullByJoin;
  if (sources.length !== 2 || keys.some((key) => key.length !== 1 || canBeNull(key[0]!))) return undefined;
  const [one, other] = keys.map(([visible]) => visible!.ways.find(({ head }) => head.startsWith('column ')));
  if (!one || one.head !== other?.head) return undefined;
  const { tag } = sources[0]!;
  const { type } = keys[0]![0]!;
  return { tag, type, isNotNull: true, tree: fixed(tag, one.text) };
}

/** In a view's own key, no part may be null. */
export function keyPart(site: Site, part: KeyPart, { isTop }: Want): KeyPart {
  const isGood = part.isNotNull && !isNested(part.type);
  return isTop && !isGood ? { ...part, ...notNull(site, part.tree, part.type) } : part;
}

/** Replaces null, usually with a text that no row has, sometimes with any value. */
export function notNull(site: Site, tree: Tree, type: SqlType): Omit<KeyPart, 'tag'> {
  const { choices, schema } = site.world;
  if (choices.percent(isNested(type) ? 95 : type.isExact ? 70 : 40)) {
    const text = schema.types.find(({ name }) => name === 'text')!;
    return { tree: orTilde(tree, type), type: text, isNotNull: true };
  }
  const literal = `'${choices.pick(type.values).replaceAll("'", "''")}'::${castName(type)}`;
  return { tree: seq('coalesce(', tree, `, ${literal})`), type, isNotNull: true };
}

/** Sorts by all columns, if all are sortable. */
export function sorted(names: readonly Tree[], columns: readonly { type: SqlType }[]): readonly Tree[] | undefined {
  return columns.every(({ type }) => type.isOrdered) ? names : undefined;
}

/** Marks it if equal rows can look different. */
export function surely(isExact: boolean, tree: Tree): Tree {
  return isExact ? tree : marked({ kind: 'chance', reason: 'one of several rows that are equal' }, tree);
}

/** Sometimes, a column whose equal values can look different. */
export function lookalike({ scope, world }: Site): Pick<KeyPart, 'tree' | 'type'> | undefined {
  const { choices } = world;
  if (!choices.percent(20)) return undefined;
  const all = visibleIn(scope, ({ columns }) => columns).filter(({ type }) => type.isOrdered && !type.isExact);
  if (all.length === 0) return undefined;
  const visible = choices.pick(all);
  return { tree: reference(choices, visible), type: visible.type };
}

/** A group's key part as text. Null becomes a value of its own. */
export function asText(world: World, { tree, type }: Pick<KeyPart, 'tree' | 'type'>): Omit<KeyPart, 'tag'> {
  const text = world.schema.types.find(({ name }) => name === 'text')!;
  return { tree: orTilde(tree, type), type: text, isNotNull: true };
}

/** A collation survives the cast. */
function orTilde(tree: Tree, { family }: SqlType): Tree {
  return seq('coalesce((', tree, family === 'caseless' ? `)::text collate "C", '~')` : `)::text, '~')`);
}

/** Makes expressions for ORDER BY. A bare name that the result also has would refer to the result's column. */
export function asInputs(trees: readonly Tree[], names: readonly Tree[]): readonly Tree[] {
  const nameOf = (tree: Tree) => textOf(tree).replace(/^"(\w+)"$/, '$1');
  const taken = new Set(names.map(nameOf));
  return trees.map((tree) => (taken.has(nameOf(tree)) ? seq('coalesce(', tree, ')') : tree));
}
