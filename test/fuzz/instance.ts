/** Signatures put to use: expressions in the places of their arguments. */
import { visibleIn } from './scope.js';
import type { Signature } from './signature.js';
import { marked, seq, type Tree } from './tree.js';
import { castName, familyOf, type SqlType } from './types.js';
import { type Site, typeNamed, type World } from './world.js';

const fits: Readonly<Record<string, (type: SqlType) => boolean>> = {
  any: () => true,
  '=': (type) => type.isEqual,
  '<': (type) => type.isOrdered,
  '==': (type) => type.isOrdered && type.isExact,
};

/** Whether the server and the case have what it names. */
export function isAvailable(
  { schema, version }: Pick<World, 'schema' | 'version'>,
  { result, pieces, since }: Signature,
): boolean {
  const families = new Set(schema.types.map(familyOf));
  const isKnown = (name: string) => name in fits || name.startsWith('#') || families.has(name.split(':')[0]!);
  return since <= version && isKnown(result) && pieces.every((piece, i) => i % 2 === 0 || isKnown(piece));
}

/** Whether its result can be of this type. */
export function gives({ result }: Signature, type: SqlType): boolean {
  return result === familyOf(type) || fits[result]?.(type) === true;
}

export function instance(site: Site, one: Signature, type: SqlType): Tree {
  const tree = seq('(', callOf(site, one, type), ')');
  return one.chance === undefined ? tree : marked({ kind: 'chance', reason: one.chance }, tree);
}

/** Without parentheses. A variable stands for one type throughout; `#1` is the first argument again. */
export function callOf(site: Site, { result, pieces }: Signature, type: SqlType): Tree {
  let variable = result in fits ? type : undefined;
  const made: Tree[] = [];
  const parts = pieces.map((piece, i): Tree => {
    if (i % 2 === 0) return piece;
    const [name, detail] = piece.split(':') as [string, string?];
    if (name.startsWith('#')) return made[Number(name.slice(1)) - 1]!;
    if (name in fits) variable ??= anyType(site, name);
    const wanted = name in fits ? variable! : familyOf(type) === name ? type : familyNamed(site, name);
    if (detail === 'name') return castName(wanted);
    made.push(site.world.grammar.expression(site, wanted));
    return made.at(-1)!;
  });
  return seq(...parts);
}

function familyNamed({ world }: Site, name: string): SqlType {
  return world.schema.types.find((type) => familyOf(type) === name) ?? typeNamed(world, name);
}

/** Rather one that there are columns of. */
export function anyType(site: Site, variable: string): SqlType {
  const { choices, schema } = site.world;
  const near = visibleIn(site.scope, ({ columns }) => columns)
    .map((visible) => visible.type)
    .filter(fits[variable]!);
  return choices.pick(near.length > 0 && choices.percent(85) ? near : schema.types.filter(fits[variable]!));
}
