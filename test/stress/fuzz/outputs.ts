/** The select list. */
import type { KeyPart } from './keys.js';
import { anyName, quoted } from './names.js';
import { visibleIn } from './scope.js';
import { fixed, seq, type Tree } from './tree.js';
import type { SqlType } from './types.js';
import type { Output, Site, Want, World } from './world.js';

export interface Outputs {
  readonly trees: readonly Tree[];
  readonly columns: readonly Output[];
  /** The indexes of the key's columns. */
  readonly key: readonly number[];
}

/** The given types. If any will do, the types of visible columns. */
export function typesOf(
  site: Site,
  { types }: Want,
  suits: (type: SqlType) => boolean = () => true,
): readonly SqlType[] {
  if (types) return types;
  const { choices, schema } = site.world;
  const near = visibleIn(site.scope, ({ columns }) => columns)
    .map(({ type }) => type)
    .filter(suits);
  const all = schema.types.filter(suits);
  return choices.times(1, site.depth > 3 ? 4 : 2, () =>
    choices.pick(near.length > 0 && choices.percent(75) ? near : all),
  );
}

/** This many distinct names. */
export function outputNames({ choices }: World, count: number): string[] {
  const names: string[] = [];
  while (names.length < count) {
    const name = anyName(choices);
    names.push(names.includes(name) ? `${name}${names.length}` : name);
  }
  return names;
}

/** The required columns, followed by those of the key. */
export function outputsOf(
  world: World,
  wanted: readonly { tree: Tree; type: SqlType }[],
  key: readonly KeyPart[],
): Outputs {
  const { choices } = world;
  const names = outputNames(world, wanted.length + key.length);
  const as = (i: number) =>
    `${choices.percent(85) || !/^[abxyn]$/.test(names[i]!) ? ' as' : ''} ${quoted(choices, names[i]!)}`;
  const keyNames = names.slice(wanted.length);
  return {
    trees: [
      ...wanted.map(({ tree }, i) => seq(tree, as(i))),
      ...key.map(({ tree, tag }, i) => fixed(tag, tree, as(wanted.length + i))),
    ],
    columns: [
      ...wanted.map(({ type }, i) => ({ name: names[i]!, type, isNotNull: false })),
      ...key.map(({ type, isNotNull, tag }, i) => ({ name: keyNames[i]!, type, isNotNull, tag })),
    ],
    key: key.map((_, i) => wanted.length + i),
  };
}

/** The columns of a result, as ORDER BY names them. */
export function namesOf({ choices }: World, columns: readonly Output[]): Tree[] {
  return columns.map(({ name, tag }) => fixed(tag ?? '', quoted(choices, name)));
}
