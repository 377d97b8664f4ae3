/** Expressions of a given type. */
import { aggregate } from './aggregates.js';
import { literalOf, parameterOf } from './constants.js';
import { instance } from './instance.js';
import { reference, rowsIn, visibleIn } from './scope.js';
import type { Signature } from './signature.js';
import { subquery } from './subqueries.js';
import { marked, part, seq, type Tree } from './tree.js';
import { castName, familyOf, type SqlType, typedLiteral } from './types.js';
import { windowFunction } from './windows.js';
import { deeper, type Site } from './world.js';

type Production = (site: Site, type: SqlType) => Tree | undefined;

const leaves: readonly (readonly [number, Production])[] = [
  [70, column],
  [14, literalOf],
  [16, parameterOf],
];

const productions: readonly (readonly [number, Production])[] = [
  [38, column],
  [8, literalOf],
  [9, parameterOf],
  [28, fromSignature],
  [4, attribute],
  [3, ofRow],
  [5, subquery],
  [30, aggregate],
  [14, windowFunction],
];

export function expression(site: Site, type: SqlType): Tree {
  const { world } = site;
  world.budget--;
  if (type.name === 'boolean' && site.depth <= 0 && world.choices.percent(80)) {
    const compared = comparison(site);
    if (compared) return part('expression boolean', 'true', compared);
  }
  const usable = site.depth <= 0 || world.budget < 0 ? leaves : productions;
  const least = `null::${castName(type)}`;
  for (let tries = 0; tries < 4; tries++) {
    const tree = poisoned(site, type) ?? world.choices.weighted(usable)(deeper(site), type);
    if (tree !== undefined) return part(`expression ${type.name}`, least, tree);
  }
  return part(`expression ${type.name}`, least, typedLiteral(type, world.choices.pick(type.values)));
}

function column(site: Site, type: SqlType): Tree | undefined {
  const { choices } = site.world;
  const found = visibleIn(site.scope, ({ columns }) => columns).filter((visible) => visible.type === type);
  if (found.length === 0) return undefined;
  // The query's own columns come first, and are chosen more often.
  return reference(choices, choices.pick(choices.percent(75) ? found.slice(0, 4) : found));
}

function attribute({ world: { choices }, scope }: Site, type: SqlType): Tree | undefined {
  const found = visibleIn(scope, ({ attributes }) => attributes).filter((visible) => visible.type === type);
  return found.length === 0 ? undefined : reference(choices, choices.pick(found));
}

/** An expression on a whole row. */
function ofRow({ world: { choices }, scope }: Site, type: SqlType): Tree | undefined {
  const rows = rowsIn(scope);
  if (rows.length === 0) return undefined;
  const row = choices.pick(rows).text;
  const forms: Readonly<Record<string, readonly string[]>> = {
    text: [`(${row})::text`, `row_to_json(${row})::text`, `(to_jsonb(${row}) ->> 'id')`, `concat(${row})`],
    jsonb: [`to_jsonb(${row})`, `jsonb_build_array(${row})`, `to_jsonb(row(${row}.*))`],
    json: [`row_to_json(${row})`, `to_json(${row})`],
    boolean: [`(${row} is null)`, `(${row} is not null)`, `(${row} is not distinct from ${row})`, `(${row}.* is null)`],
    integer: [`num_nulls(${row}.*)`, `octet_length(${row}::text)`],
  };
  const found = forms[familyOf(type)];
  return found && choices.pick(found);
}

/** An expression for which the query must be refused. */
function poisoned(site: Site, type: SqlType): Tree | undefined {
  const { world } = site;
  const { poison } = world;
  if (poison === undefined || poison.result !== familyOf(type) || !world.choices.percent(60)) return undefined;
  world.poison = undefined;
  const tree = instance(deeper(site), poison, type);
  return poison.chance === undefined ? marked({ kind: 'illegal', reason: poison.illegal! }, tree) : tree;
}

function fromSignature(site: Site, type: SqlType): Tree | undefined {
  const { choices, signatures } = site.world;
  const own = signatures.get(familyOf(type)) ?? [];
  const generic = ['any', ...(type.isEqual ? ['='] : []), ...(type.isOrdered ? ['<'] : [])].flatMap(
    (variable) => signatures.get(variable) ?? [],
  );
  const from = own.length > 0 && choices.percent(75) ? own : generic;
  return from.length === 0 ? undefined : instance(site, choices.pick(from), type);
}

/** A condition. Comparisons of columns are the most frequent. */
export function condition(site: Site): Tree {
  const { choices, schema } = site.world;
  const boolean = schema.types.find(({ name }) => name === 'boolean')!;
  const isDeep = site.depth > 0 ? 1 : 0;
  const make = choices.weighted<() => Tree | undefined>([
    [45, () => comparison(site)],
    [25 * isDeep, () => instance(deeper(site), testOfColumns(site), boolean)],
    [30 * isDeep, () => subquery(deeper(site), boolean)],
  ]);
  return part('expression boolean', 'true', make() ?? expression(site, boolean));
}

/** Prefers types that occur as columns. */
function testOfColumns(site: Site): Signature {
  const { choices, signatures } = site.world;
  const tests = signatures.get('boolean')!;
  const families = new Set(visibleIn(site.scope, ({ columns }) => columns).map(({ type }) => familyOf(type)));
  const near = tests.filter(({ pieces }) => pieces.some((piece, i) => i % 2 === 1 && families.has(piece)));
  return choices.pick(near.length > 0 && choices.percent(60) ? near : tests);
}

/** Compares a column with something of its type. Most rows should pass. */
function comparison(site: Site): Tree | undefined {
  const { choices } = site.world;
  const found = visibleIn(site.scope, ({ columns }) => columns).filter(({ type }) => type.isEqual);
  if (found.length === 0) return undefined;
  const one = choices.pick(choices.percent(75) ? found.slice(0, 5) : found);
  const left = reference(choices, one);
  const operator = choices.weighted([
    [25, '='],
    [28, '<>'],
    [15, 'is distinct from'],
    [one.type.isOrdered ? 10 : 0, '<='],
    [one.type.isOrdered ? 20 : 0, '>='],
    [8, 'is not null'],
  ]);
  if (operator === 'is not null') return seq(left, ' is not null');
  const others = found.filter((other) => other.type === one.type && other !== one);
  const shallow = { ...site, depth: Math.min(site.depth - 1, 1) };
  const right = choices.weighted<() => Tree>([
    [30, () => literalOf(site, one.type)],
    [25, () => parameterOf(site, one.type)],
    [others.length > 0 ? 30 : 0, () => reference(choices, choices.pick(others))],
    [15, () => expression(shallow, one.type)],
  ])();
  return seq('(', left, ` ${operator} `, right, ')');
}
