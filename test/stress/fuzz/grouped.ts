/** GROUP BY, HAVING, and aggregates over everything. */
import type { From } from './from.js';
import { anyType } from './instance.js';
import { asInputs, asText, type KeyPart, lookalike, surely } from './keys.js';
import { quoted } from './names.js';
import { namesOf, type Outputs, outputsOf, typesOf } from './outputs.js';
import { reference, type Scope, type Source } from './scope.js';
import { limitClause } from './tails.js';
import { fixed, list, seq, type Tree } from './tree.js';
import type { SqlType } from './types.js';
import { where } from './where.js';
import { plain, type Query, type Site, type Want } from './world.js';

interface Groups {
  readonly parts: readonly KeyPart[];
  /** A table that is grouped by its primary key, so its other columns are functionally dependent. */
  readonly dependent: Source | undefined;
}

/** @param isAll True if all rows form one group. */
export function grouped(inner: Site, from: From, want: Want, isAll: boolean): Query {
  const { world } = inner;
  const { choices, grammar } = world;
  const groups: Groups = isAll ? { parts: [], dependent: undefined } : chooseGroups(inner, from, want);
  const { parts } = groups;
  const way =
    parts.length > 0 && !groups.dependent
      ? choices.weighted<Way>([
          [80, 'plain'],
          [8, 'rollup'],
          [6, 'cube'],
          [6, 'sets'],
        ])
      : 'plain';
  const site = ofGroups(inner, groups, way);
  const types = typesOf(isAll ? inner : site, want);
  const trees = types.map((type) => ({ tree: grammar.expression(site, type), type }));
  const key = want.isKeyed ? keyOfGroups(inner, parts, way) : [];
  const outputs = outputsOf(world, trees, key);
  const hasCondition = choices.percent(25);
  const having = list(hasCondition ? [grammar.condition({ ...site, depth: site.depth - 1 })] : [], {
    before: ' having ',
    by: ' and ',
  });
  const names = namesOf(world, outputs.columns);
  const total = [
    ...parts.map(({ tree, tag }) => fixed(tag, ...asInputs([tree], names))),
    ...(way === 'plain' ? [] : [fixed('', groupingOf(parts))]),
  ];
  const ordering = {
    site,
    outputs: names.filter((_, i) => outputs.columns[i]!.type.isOrdered),
    total,
    key: outputs.key.map((i) => names[i]!),
  };
  const tree = seq(
    'select ',
    list(outputs.trees, { min: 1 }),
    ' from ',
    from.tree,
    where(inner),
    isAll && !hasCondition && !world.aggregated.has(inner.scope)
      ? ' group by ()'
      : groupBy(inner, from, { parts, way, outputs, isKeyed: want.isKeyed }),
    having,
    limitClause(site, want, ordering),
  );
  // Before Postgres 18, planning could confuse constants of several grouping sets.
  const isExact = parts.every(({ type }) => type.isExact) && (way === 'plain' || world.version >= 18);
  return { tree: surely(isExact, tree), columns: outputs.columns, key: want.isKeyed ? outputs.key : undefined };
}

type Way = 'plain' | 'rollup' | 'cube' | 'sets';

function chooseGroups(inner: Site, from: From, want: Want): Groups {
  const { world } = inner;
  const { choices, grammar } = world;
  const whole = from.sources.filter(({ key }, i) => from.items[i]!.table && key && key.length > 0);
  if (whole.length > 0 && choices.percent(22)) {
    const dependent = choices.pick(whole);
    const parts = dependent.key!.map((visible): KeyPart => {
      const { type, isNotNull } = visible;
      return {
        tag: dependent.tag,
        type,
        isNotNull,
        tree: { same: world.names++, parts: [reference(choices, visible)] },
      };
    });
    return { parts, dependent };
  }
  const isFit = (type: SqlType) => type.isOrdered && (type.isExact || choices.percent(22));
  const parts = choices.times(1, want.isTop ? 2 : 3, (): KeyPart => {
    const alike = lookalike(inner);
    if (alike) {
      return { tag: '', type: alike.type, isNotNull: false, tree: { same: world.names++, parts: [alike.tree] } };
    }
    let type = anyType(inner, '<');
    for (let tries = 0; !isFit(type) && tries < 5; tries++) type = anyType(inner, '<');
    return {
      tag: '',
      type,
      isNotNull: false,
      tree: { same: world.names++, parts: [grammar.expression({ ...inner, depth: inner.depth - 2 }, type)] },
    };
  });
  return { parts, dependent: undefined };
}

/** Outside of aggregates, expressions see only the groups. */
function ofGroups(inner: Site, { parts, dependent }: Groups, way: Way): Site {
  const { choices } = inner.world;
  const columns = parts.map(({ tree, type, isNotNull }) => ({
    type,
    ways: [],
    tree,
    isNotNull: isNotNull && way === 'plain',
  }));
  const names = new Set(inner.scope.sources.flatMap((source) => [...source.names]));
  const source: Source = {
    tag: '',
    columns: [...columns, ...(dependent?.columns ?? [])],
    key: undefined,
    names,
    rows: [],
    attributes: [],
  };
  const { outer } = inner.scope;
  const scope: Scope = { sources: [source], ...(outer && { outer }) };
  const site: Site = { ...plain(inner, scope), aggregated: inner.scope };
  if (!choices.percent(8) || way !== 'plain') return site;
  return { ...site, windowed: { key: parts.map(({ tree, tag }) => fixed(tag, tree)), names: [] } };
}

/** Null forms its own group, and grouping sets can yield several. */
function keyOfGroups({ world }: Site, parts: readonly KeyPart[], way: Way): KeyPart[] {
  const own = parts.map((one) => (one.isNotNull && way === 'plain' ? one : { ...one, ...asText(world, one) }));
  if (way === 'plain') return own;
  const integer = world.schema.types.find(({ name }) => name === 'integer')!;
  return [...own, { tag: '', type: integer, isNotNull: true, tree: groupingOf(parts) }];
}

function groupingOf(parts: readonly KeyPart[]): Tree {
  return seq('grouping(', ...parts.flatMap(({ tree }, i) => [i === 0 ? '' : ', ', tree]), ')');
}

interface GroupBy {
  readonly parts: readonly KeyPart[];
  readonly way: Way;
  readonly outputs: Outputs;
  readonly isKeyed: boolean;
}

function groupBy({ world: { choices } }: Site, from: From, { parts, way, outputs, isKeyed }: GroupBy): Tree {
  const trees = parts.map(({ tree }) => tree);
  if (way === 'rollup' || way === 'cube') {
    return seq(` group by ${choices.percent(30) ? 'distinct ' : ''}${way}(`, list(trees, { min: 1 }), ')');
  }
  if (way === 'sets') return seq(' group by grouping sets ((', list(trees, { min: 1 }), '), (', trees[0]!, '), ())');
  const input = new Set(from.items.flatMap(({ columns }) => columns.map(({ name }) => name)));
  return list(
    trees.map((tree, i) => {
      const at = outputs.key[i];
      const column = at === undefined ? undefined : outputs.columns[at]!;
      // A key column that is itself the group can be named by its position, and by a name that no table has.
      if (!isKeyed || !column || column.type !== parts[i]!.type || !parts[i]!.isNotNull || choices.percent(60)) {
        return tree;
      }
      return input.has(column.name) ? String(at! + 1) : fixed('', quoted(choices, column.name));
    }),
    { before: ' group by ', min: Math.min(1, trees.length) },
  );
}
