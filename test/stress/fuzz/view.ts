/** A view to be served: a query whose rows have a key. */
import type { Choices } from './choices.js';
import { isAvailable } from './instance.js';
import { poisons } from './poisons.js';
import { grammar } from './queries.js';
import type { Schema } from './schema.js';
import { noScope } from './scope.js';
import { createShape, type FuzzShape, shapeWithout } from './shape.js';
import { withoutTag } from './shrink-tree.js';
import type { Signature } from './signature.js';
import { builtIn } from './signatures.js';
import { type Mark, marked, marksOf, seq, type Tree, type Written, write } from './tree.js';
import { isNested, type SqlType } from './types.js';
import type { Site, World } from './world.js';

/** A column of a view's result. */
export interface FuzzColumn {
  readonly name: string;
  readonly tag?: string;
  readonly type?: SqlType;
}

export interface FuzzView {
  readonly name: string;
  readonly tree: Tree;
  readonly key: readonly FuzzColumn[];
  readonly shape: FuzzShape;
}

const poisonedPercent = 12;

export function createView(choices: Choices, schema: Schema, version: number, name: string): FuzzView {
  const world = createWorld(choices, schema, version);
  const site: Site = { world, scope: noScope, depth: choices.between(3, 7), ctes: [] };
  const { tree, columns, key } = grammar.query(site, { isKeyed: true, isTop: true });
  const shape = createShape(choices.aside(), columns);
  return { name, tree: locked(world, tree), key: key!.map((i) => columns[i]!), shape };
}

/** A view that yields each row twice. Undefined if the two could differ by chance. */
export function createRepeatedView(
  choices: Choices,
  schema: Schema,
  version: number,
  name: string,
): FuzzView | undefined {
  const view = createView(choices, schema, version, name);
  if (objectionsTo(view).length > 0) return undefined;
  const rows: Tree = { same: -1, parts: [view.tree] };
  return { ...view, tree: seq('select * from (', rows, ') one union all select * from (', rows, ') other') };
}

function createWorld(choices: Choices, schema: Schema, version: number): World {
  const ofRoutines = schema.routines.flatMap(({ signatures }) => signatures);
  const usable = [...builtIn, ...ofRoutines].filter((one) => isAvailable({ schema, version }, one));
  const legal = new Map<string, Signature[]>();
  for (const one of usable) {
    if (one.illegal === undefined) legal.set(one.result, [...(legal.get(one.result) ?? []), one]);
  }
  const illegal = usable.filter((one) => one.illegal !== undefined);
  const poison = choices.percent(poisonedPercent) ? choosePoison(choices, { schema, version }, illegal) : undefined;
  const budget = choices.weighted([
    [4, 15],
    [4, 40],
    [2, 90],
  ]);
  return {
    choices,
    schema,
    version,
    grammar,
    signatures: legal,
    parameters: [],
    poison,
    budget,
    aggregated: new Set(),
    names: 0,
  };
}

function choosePoison(
  choices: Choices,
  world: Pick<World, 'schema' | 'version'>,
  ofRoutines: readonly Signature[],
): Signature {
  const available = poisons.filter((one) => isAvailable(world, one));
  return choices.pick(ofRoutines.length > 0 && choices.percent(60) ? ofRoutines : available);
}

function locked(world: World, tree: Tree): Tree {
  if (world.poison?.result !== 'lock') return tree;
  return seq(tree, marked({ kind: 'illegal', reason: world.poison.illegal! }, ` ${world.poison.pieces[0]}`));
}

/** The view's text, and each user's values for its parameters. */
export function textOfView({ tree }: FuzzView, forRead = false): Written {
  return write(tree, forRead);
}

/** The objections to the view. */
export function objectionsTo({ tree, key }: FuzzView): Mark[] {
  const nested = key.some(({ type }) => type && isNested(type));
  return [...marksOf(tree), ...(nested ? [{ kind: 'illegal', reason: 'a key of arrays or objects' } as const] : [])];
}

/** Removes everything with the tag. */
export function viewWithout(view: FuzzView, tag: string): FuzzView {
  const { tree, key, shape } = view;
  return {
    ...view,
    tree: withoutTag(tree, tag),
    key: key.filter((part) => part.tag !== tag),
    shape: shapeWithout(shape, tag),
  };
}
