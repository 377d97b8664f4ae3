/** Instantiates signatures: fills in expressions as arguments. */
import { barely } from './constants.js';
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
  cased: (type) => type.family !== 'caseless',
};

/** Results that are not expressions but other parts of a query. */
const positions = new Set(['from', 'table', 'lock']);

/** True if the server and the case have everything that it names. */
export function isAvailable(
  { schema, version }: Pick<World, 'schema' | 'version'>,
  { result, pieces, since }: Signature,
): boolean {
  const families = new Set(schema.types.map(familyOf));
  const familyIn = (piece: string) => piece.replace('$', '').split(':')[0]!;
  const isKnown = (piece: string) => piece in fits || piece.startsWith('#') || families.has(familyIn(piece));
  return (
    since <= version &&
    (isKnown(result) || positions.has(result)) &&
    pieces.every((piece, i) => i % 2 === 0 || isKnown(piece))
  );
}

/** True if its result can have this type. */
export function gives({ result }: Signature, type: SqlType): boolean {
  return result === familyOf(type) || fits[result]?.(type) === true;
}

export function instance(site: Site, one: Signature, type: SqlType): Tree {
  const tree = seq('(', callOf(site, one, type), ')');
  return one.chance === undefined ? tree : marked({ kind: 'chance', reason: one.chance }, tree);
}

/** Without parentheses. A variable has the same type throughout, and `#1` repeats the first argument. */
export function callOf(site: Site, { result, pieces }: Signature, type: SqlType): Tree {
  const isRepeated = pieces.some((piece, i) => i % 2 === 1 && piece.startsWith('#'));
  let variable = result in fits ? type : undefined;
  const made: Tree[] = [];
  const parts = pieces.map((piece, i): Tree => {
    if (i % 2 === 0) return piece;
    const isParameter = piece.startsWith('$');
    const [name, detail] = piece.replace('$', '').split(':') as [string, string?];
    if (name.startsWith('#')) return made[Number(name.slice(1)) - 1]!;
    if (name in fits) variable ??= anyType(site, name);
    const argumentType = name in fits ? variable! : familyOf(type) === name ? type : familyNamed(site, name);
    if (detail === 'name') return castName(argumentType);
    const tree = isParameter ? barely(site, argumentType) : site.world.grammar.expression(site, argumentType);
    made.push(isRepeated ? { same: site.world.names++, parts: [tree] } : tree);
    return made.at(-1)!;
  });
  return seq(...parts);
}

function familyNamed({ world }: Site, name: string): SqlType {
  return world.schema.types.find((type) => familyOf(type) === name) ?? typeNamed(world, name);
}

/** Prefers a type that occurs as a column. */
export function anyType(site: Site, variable: string): SqlType {
  const { choices, schema } = site.world;
  const near = visibleIn(site.scope, ({ columns }) => columns)
    .map((visible) => visible.type)
    .filter(fits[variable]!);
  return choices.pick(near.length > 0 && choices.percent(85) ? near : schema.types.filter(fits[variable]!));
}
