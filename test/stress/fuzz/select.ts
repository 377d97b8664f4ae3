/** One SELECT: its list, FROM and WHERE, and the key of its rows. */
import { type From, fromClause } from './from.js';
import { grouped } from './grouped.js';
import { anyType } from './instance.js';
import { asInputs, asText, type KeyPart, keyOf, keyPart, lookalike, notNull, sorted, surely } from './keys.js';
import { namesOf, type Outputs, outputsOf, typesOf } from './outputs.js';
import { series } from './series.js';
import { limitClause } from './tails.js';
import { list, seq, type Tree } from './tree.js';
import type { SqlType } from './types.js';
import { where } from './where.js';
import { windowOf } from './windows.js';
import { plain, type Query, type Site, type Want, type Windowed } from './world.js';

type Form = 'plain' | 'star' | 'distinct' | 'distinct on' | 'grouped' | 'all' | 'bare';

export function select(site: Site, want: Want): Query {
  const { choices } = site.world;
  const isEqual = want.types?.every((type) => type.isEqual) ?? true;
  const form = want.isSingle
    ? choices.weighted<Form>([
        [50, 'plain'],
        [40, 'all'],
        [10, 'bare'],
      ])
    : choices.weighted<Form>([
        [58, 'plain'],
        [want.types ? 0 : 10, 'star'],
        [isEqual ? 8 : 0, 'distinct'],
        [want.isTop || !want.isKeyed ? 6 : 4, 'distinct on'],
        [15, 'grouped'],
        [want.isKeyed ? 0 : 2, 'all'],
        [want.isKeyed ? 0 : 2, 'bare'],
      ]);
  if (form === 'bare') return bare(site, want);
  const needsKey = want.isKeyed || want.isSingle === true || want.isSorted === true || form === 'distinct on';
  const isOwn = form === 'distinct' || form === 'grouped' || form === 'all';
  const from = fromClause(site, needsKey && !isOwn);
  // Two columns with the same name cannot be a key.
  if (needsKey && !isOwn && keyOf(site.world, from.sources) === undefined) return select(site, want);
  const inner = plain(site, { sources: from.sources, outer: site.scope });
  if (form === 'star') return star(inner, from, want);
  if (form === 'distinct') return distinct(inner, from, want);
  if (form === 'distinct on') return distinctOn(inner, from, want);
  if (form === 'grouped' || form === 'all') return grouped(inner, from, want, form === 'all');
  return ordinary(inner, from, want);
}

/** @param windows the WINDOW clause */
function assemble(inner: Site, from: From, head: Tree, rest: readonly Tree[]): Tree {
  return seq(head, ' from ', from.tree, where(inner), ...rest);
}

/** A SELECT without FROM. */
function bare(site: Site, want: Want): Query {
  const types = typesOf(site, want);
  const trees = types.map((type) => ({ tree: site.world.grammar.expression(plain(site), type), type }));
  const { trees: columns, ...outputs } = outputsOf(site.world, trees, []);
  return { tree: seq('select ', list(columns, { min: 1 })), columns: outputs.columns, key: [] };
}

function ordinary(inner: Site, from: From, want: Want): Query {
  const { world } = inner;
  const key = keyOf(world, from.sources);
  const { site, clause } = withWindows(inner, key);
  const types = typesOf(inner, want);
  const trees = types.map((type) => ({ tree: world.grammar.expression(site, type), type }));
  const made = series(inner, want);
  const parts = want.isKeyed ? key!.map((one) => keyPart(inner, one, want)) : [];
  const outputs = outputsOf(world, trees, [...parts, ...made]);
  const ordering = orderingOf(site, outputs, key, made.length > 0);
  const select = seq('select ', list(outputs.trees));
  return queryOf(assemble(inner, from, select, [clause, limitClause(site, want, ordering)]), outputs, want.isKeyed);
}

/**
 * @param makesRows True if a key of the rows read suffices, because rows made of one row have their own order.
 */
function orderingOf(site: Site, outputs: Outputs, key: readonly KeyPart[] | undefined, makesRows = false) {
  const names = namesOf(site.world, outputs.columns);
  const total = key?.map(({ tree, tag }) => ({ tag, isFixed: true as const, parts: asInputs([tree], names) }));
  const sortable = names.filter((_, i) => outputs.columns[i]!.type.isOrdered);
  return { site, outputs: sortable, total, key: makesRows ? undefined : outputs.key.map((i) => names[i]!) };
}

function queryOf(tree: Tree, { columns, key }: Outputs, isKeyed: boolean): Query {
  return { tree, columns, key: isKeyed ? key : undefined };
}

/** Sometimes allows window functions. */
function withWindows(inner: Site, key: readonly KeyPart[] | undefined): { site: Site; clause: Tree } {
  const { choices } = inner.world;
  if (!choices.percent(18)) return { site: inner, clause: '' };
  const windowed: Windowed = { key: key?.map(({ tree }) => tree), names: [] };
  if (key === undefined || !choices.percent(35)) return { site: { ...inner, windowed }, clause: '' };
  const clause = seq(' window w as (', windowOf(inner, windowed, true, false), ')');
  return { site: { ...inner, windowed: { ...windowed, names: ['w'] } }, clause };
}

/** All columns of all items, or of one item after another. */
function star(inner: Site, from: From, want: Want): Query {
  const { world } = inner;
  const { items, sources } = from;
  const columns = items.flatMap((item) => item.columns);
  const names = columns.map(({ name }) => name);
  const keys = items.flatMap(({ key, columns: own }, i) => {
    const before = items.slice(0, i).reduce((sum, item) => sum + item.columns.length, 0);
    return key === undefined ? [undefined] : key.map((at) => before + at + 0 * own.length);
  });
  const isPlain = from.merged.length === 0 && new Set(names).size === names.length;
  const isKeyed = !keys.includes(undefined);
  const isSound = keys.every((at) => at !== undefined && columns[at]!.isNotNull);
  if (!isPlain || (want.isTop && !isSound) || (want.isKeyed && !isKeyed)) return ordinary(inner, from, want);
  const text =
    sources.length > 1 && sources.every(({ rows }) => rows.length > 0) && world.choices.percent(40)
      ? list(sources.map(({ rows, tag }) => ({ tag, parts: [`${rows[0]!.text}.*`] })))
      : '*';
  const outputs: Outputs = { trees: [], columns, key: keys as number[] };
  const ordering = orderingOf(inner, outputs, keyOf(world, sources));
  return queryOf(assemble(inner, from, seq('select ', text), [limitClause(inner, want, ordering)]), outputs, isKeyed);
}

function distinct(inner: Site, from: From, want: Want): Query {
  const { world } = inner;
  const { choices, grammar } = world;
  const isFit = (type: SqlType) => type.isEqual && (type.isExact || choices.percent(20));
  const types = typesOf(inner, want, isFit).filter((type) => want.types || type.isEqual);
  const alike = want.types ? undefined : lookalike(inner);
  const values = types.map((type) => ({ tree: grammar.expression(inner, type), type }));
  const trees = (alike ? [alike, ...values.slice(1)] : values).map(({ tree, type }) =>
    want.isTop ? notNull(inner, tree, type) : { tree, type },
  );
  const { columns, trees: list_ } = outputsOf(world, trees, []);
  const outputs: Outputs = {
    trees: list_,
    columns: columns.map((column) => ({ ...column, isNotNull: want.isTop === true })),
    key: columns.map((_, i) => i),
  };
  const names = namesOf(world, columns);
  const ordering = {
    outputs: names.filter((_, i) => columns[i]!.type.isOrdered),
    total: sorted(names, columns),
    key: names,
  };
  const tree = assemble(inner, from, seq('select distinct ', list(outputs.trees, { min: 1 })), [
    limitClause(inner, want, ordering),
  ]);
  return queryOf(
    surely(
      columns.every(({ type }) => type.isExact),
      tree,
    ),
    outputs,
    true,
  );
}

function distinctOn(inner: Site, from: From, want: Want): Query {
  const { world } = inner;
  const { choices, grammar } = world;
  const total = keyOf(world, from.sources)!;
  const ons = choices.times(1, 2, (): KeyPart => {
    const type = anyType(inner, '<');
    return { tag: '', type, isNotNull: false, tree: { same: world.names++, parts: [grammar.expression(inner, type)] } };
  });
  const types = typesOf(inner, want);
  const trees = types.map((type) => ({ tree: grammar.expression(inner, type), type }));
  const made = series(inner, want);
  const parts = want.isKeyed ? ons.map((one) => ({ ...one, ...asText(inner.world, one) })) : [];
  const outputs = outputsOf(world, trees, [...parts, ...made]);
  const head = seq(
    'select distinct on (',
    list(
      ons.map(({ tree }) => tree),
      { min: 1 },
    ),
    ') ',
    list(outputs.trees, { min: 1 }),
  );
  const first = ons.map(({ tree }) => seq(tree, choices.pick(['', ' desc', ' nulls first'])));
  const ordering = { ...orderingOf(inner, outputs, total, made.length > 0), outputs: [], first };
  return queryOf(assemble(inner, from, head, [limitClause(inner, want, ordering)]), outputs, want.isKeyed);
}
