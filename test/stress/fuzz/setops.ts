/** UNION, INTERSECT, EXCEPT. */
import { notNull, sorted, surely } from './keys.js';
import { quoted } from './names.js';
import { namesOf, outputNames, typesOf } from './outputs.js';
import { limitClause } from './tails.js';
import { list, seq, type Tree } from './tree.js';
import type { SqlType } from './types.js';
import { deeper, plain, type Query, type Site, typeNamed, type Want } from './world.js';

const operators = [
  'union all',
  'union',
  'intersect',
  'except',
  'intersect all',
  'except all',
  'union distinct',
] as const;

/** Arms of the same types. If duplicates are kept, a column identifies the arm of a row. */
export function setOperation(site: Site, want: Want): Query {
  const { world } = site;
  const { choices } = world;
  const types = typesOf(site, want, (type) => type.isEqual);
  const operator = choices.weighted([
    [32, 'union all'],
    [34, 'union'],
    [10, 'intersect'],
    [12, 'except'],
    [want.isKeyed ? 0 : 4, 'intersect all'],
    [want.isKeyed ? 0 : 4, 'except all'],
    [4, 'union distinct'],
  ] as [number, (typeof operators)[number]][]);
  const count = choices.percent(80) ? 2 : 3;
  const isBag = operator.endsWith(' all');
  const arms = Array.from({ length: count }, (_, i) => arm(site, want, types, isBag && want.isKeyed ? i : undefined));
  const names = outputNames(world, arms[0]!.types.length);
  const columns = arms[0]!.types.map((type, i) => ({ name: names[i]!, type, isNotNull: want.isTop === true }));
  const trees = arms.flatMap(({ write }, i) => (i === 0 ? [write(names)] : [` ${operator} `, write(undefined)]));
  const outputs = namesOf(world, columns);
  const ordering = {
    outputs: outputs.filter((_, i) => columns[i]!.type.isOrdered),
    total: isBag && !want.isKeyed ? undefined : sorted(outputs, columns),
    key: isBag ? outputs.slice(-1) : outputs,
  };
  const isExact = isBag || columns.every(({ type }) => type.isExact);
  const tree = surely(isExact, seq(...trees, limitClause(site, want, ordering)));
  return { tree, columns, key: isBag ? (want.isKeyed ? [columns.length - 1] : undefined) : columns.map((_, i) => i) };
}

interface Arm {
  readonly types: readonly SqlType[];
  /** @param names The names of its columns, for the first arm. */
  write(names: readonly string[] | undefined): Tree;
}

function arm(site: Site, want: Want, types: readonly SqlType[], index: number | undefined): Arm {
  const { world } = site;
  const { choices, grammar } = world;
  const query = grammar.query(plain(deeper(site)), { types, isKeyed: index !== undefined });
  const text = typeNamed(world, 'text');
  const q = `q${world.names++}`;
  const refs = query.columns.map(({ name }) => `${q}.${quoted(choices, name)}`);
  const isWrapped = index !== undefined || want.isTop === true || choices.percent(20);
  if (!isWrapped) {
    // Its own names matter; the first arm's names are the result's.
    return {
      types,
      write: (names) =>
        names
          ? seq('select * from (', query.tree, `) as ${q} (${names.map((name) => quoted(choices, name)).join(', ')})`)
          : seq('(', query.tree, ')'),
    };
  }
  const values = types.map((type, i) =>
    want.isTop && index === undefined ? notNull(site, refs[i]!, type) : { tree: refs[i]!, type },
  );
  const tag =
    index === undefined
      ? []
      : [
          {
            tree: seq(
              `'arm ${index}'`,
              ...query.key!.map((at) => seq(` || '/' || coalesce((${refs[at]})::text, '~')`)),
            ),
            type: text,
          },
        ];
  const all = [...values, ...tag];
  return {
    types: all.map(({ type }) => type),
    write: (names) =>
      seq(
        'select ',
        list(
          all.map(({ tree }, i) => seq(tree, names ? ` as ${quoted(choices, names[i]!)}` : '')),
          { min: 1 },
        ),
        ' from (',
        query.tree,
        `) as ${q}`,
      ),
  };
}
