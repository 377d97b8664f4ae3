/** FROM: tables, subqueries, functions, and their joins. */

import { functionItem } from './functions.js';
import { aliased, type FromTree, type Item, sourcesOf } from './items.js';
import { quoted } from './names.js';
import { isNamed, type Scope, type Source } from './scope.js';
import type { Table } from './tables.js';
import { list, marked, optional, part, seq, type Tree } from './tree.js';
import { deeper, plain, type Site } from './world.js';

export interface From {
  readonly tree: Tree;
  readonly sources: readonly Source[];
  readonly items: readonly Item[];
  /** Columns that a join has merged. */
  readonly merged: readonly string[];
}

/** @param isKeyed True if the rows of every item must have a key. */
export function fromClause(site: Site, isKeyed: boolean): From {
  const { world } = site;
  const { choices } = world;
  const trees: FromTree[] = [];
  const count = choices.weighted([
    [70, 1],
    [25, 2],
    [5, 3],
  ]);
  for (let i = 0; i < count; i++) {
    trees.push(
      joined(
        site,
        trees.flatMap(({ items }) => items),
        isKeyed,
      ),
    );
  }
  const all = together(trees);
  const sources = sourcesOf(world, all);
  return {
    tree: list(
      trees.map(({ tree }) => tree),
      { min: 1 },
    ),
    sources,
    ...all,
  };
}

function together(trees: readonly FromTree[]): Pick<FromTree, 'items' | 'merged'> {
  return { items: trees.flatMap(({ items }) => items), merged: trees.flatMap(({ merged }) => merged) };
}

function joined(site: Site, before: readonly Item[], isKeyed: boolean): FromTree {
  const { choices } = site.world;
  let tree = item(site, before, isKeyed);
  const joins =
    site.depth <= 0 || site.world.budget < 10
      ? 0
      : choices.weighted([
          [60, 0],
          [30, 1],
          [10, 2],
        ]);
  for (let i = 0; i < joins; i++) tree = join(site, before, tree, isKeyed);
  return tree;
}

/** The scope of an item that can refer to these items beside it. */
function beside(site: Site, items: readonly Item[], merged: readonly string[] = []): Scope {
  return { sources: sourcesOf(site.world, { items, merged }), outer: site.scope };
}

type Join = 'join' | 'inner join' | 'left join' | 'right join' | 'full join' | 'cross join';

function join(site: Site, before: readonly Item[], left: FromTree, isKeyed: boolean): FromTree {
  const { choices } = site.world;
  const kind = choices.weighted<Join>([
    [30, 'join'],
    [5, 'inner join'],
    [22, 'left join'],
    [6, 'right join'],
    [8, 'full join'],
    [8, 'cross join'],
  ]);
  const right = item(site, [...before, ...left.items], isKeyed);
  const items = [
    ...left.items.map((one) => (kind === 'right join' || kind === 'full join' ? nullable(one) : one)),
    ...right.items.map((one) => (kind === 'left join' || kind === 'full join' ? nullable(one) : one)),
  ];
  const merged = [...left.merged, ...right.merged];
  const made = { items, merged };
  if (kind === 'cross join') {
    return { ...made, tree: part('from', '(select) as z', left.tree, ' cross join ', right.tree) };
  }
  const shared = sharedColumns(left, right);
  if (shared.length > 0 && choices.percent(35)) return merging(site, kind, { left, right, made, shared });
  const on = site.world.grammar.condition(plain(deeper(site), beside(site, items, merged)));
  const equal = equality(site, left, right);
  const conditions = list(equal && choices.percent(80) ? [equal, ...(choices.percent(30) ? [on] : [])] : [on], {
    by: ' and ',
    min: 1,
  });
  const full = { ...made, tree: part('from', '(select) as z', left.tree, ` ${kind} `, right.tree, ' on ', conditions) };
  return choices.percent(8) ? { ...full, tree: seq('(', full.tree, ')') } : full;
}

function nullable(item: Item): Item {
  return {
    ...item,
    columns: item.columns.map((column) => ({ ...column, isNotNull: false, isNullByJoin: column.isNotNull })),
  };
}

/** Names that identify one comparable column on each side. */
function sharedColumns(left: FromTree, right: FromTree): string[] {
  const columnsOf = ({ items }: FromTree) => items.flatMap(({ columns }) => columns);
  const single = (tree: FromTree, name: string) => {
    const found = columnsOf(tree).filter((column) => column.name === name);
    return found.length === 1 ? found[0] : undefined;
  };
  return [...new Set(columnsOf(left).map(({ name }) => name))].filter((name) => {
    const [one, other] = [single(left, name), single(right, name)];
    return one && other && one.type === other.type && one.type.isEqual;
  });
}

interface Merging {
  readonly left: FromTree;
  readonly right: FromTree;
  readonly made: Pick<FromTree, 'items' | 'merged'>;
  readonly shared: readonly string[];
}

/** NATURAL and USING. */
function merging(site: Site, kind: Join, { left, right, made, shared }: Merging): FromTree {
  const { choices } = site.world;
  if (choices.percent(30)) {
    const tree = part('from', '(select) as z', left.tree, ` natural ${kind} `, right.tree);
    return { items: made.items, merged: [...made.merged, ...shared], tree };
  }
  const using = choices.some(shared, 2);
  const names = using.map((name) => quoted(choices, name)).join(', ');
  const as = choices.percent(25) ? [optional(` as ${quoted(choices, `both ${made.items.length}`)}`)] : [];
  const tree = part('from', '(select) as z', left.tree, ` ${kind} `, right.tree, ` using (${names})`, ...as);
  return { items: made.items, merged: [...made.merged, ...using], tree };
}

/** An equality between a column of each side. */
function equality(site: Site, left: FromTree, right: FromTree): Tree | undefined {
  const { choices, world } = { choices: site.world.choices, world: site.world };
  const sources = sourcesOf(world, together([left, right]));
  const [of, to] = [sources.slice(0, left.items.length), sources.slice(left.items.length)].map((some) =>
    some.flatMap(({ columns }) => columns),
  );
  const pairs = of!.flatMap((one) =>
    to!.filter((other) => other.type === one.type && one.type.isEqual).map((other) => [one, other] as const),
  );
  if (pairs.length === 0) return undefined;
  const [one, other] = choices.pick(pairs);
  const qualified = ({ ways }: (typeof sources)[0]['columns'][0]) =>
    ways.find(({ text }) => text.includes('.'))?.text ?? ways[0]!.text;
  return seq(qualified(one), ' = ', qualified(other));
}

function item(site: Site, before: readonly Item[], isKeyed: boolean): FromTree {
  const { world, depth, ctes } = site;
  const { choices } = world;
  const isDeep = depth > 1 && world.budget > 10;
  const usable = ctes.filter(({ key }) => !isKeyed || key !== undefined);
  const tables = world.schema.tables.filter(({ key }) => !isKeyed || key.length > 0);
  const made = choices.weighted<(() => FromTree) | undefined>([
    [tables.length > 0 ? 66 : 0, () => table(site, before, chooseTable(site, tables))],
    [usable.length > 0 ? 60 : 0, () => cte(site, before, usable)],
    [isDeep ? 12 : 0, () => derived(site, before, isKeyed)],
    [isDeep && before.length > 0 ? 7 : 0, () => lateral(site, before, isKeyed)],
    [10, () => functionItem(plain(site, beside(site, before)), before, isKeyed)],
  ]);
  const { tree, ...rest } = made!();
  const { tag } = rest.items[0]!;
  return { ...rest, tree: { kind: 'from', tag, least: `(select) as z${tag.slice(5)}`, parts: [tree] } };
}

/** Prefers tables whose name an outer query gives to a table of another schema: only the schema distinguishes them. */
function chooseTable({ world: { choices }, scope }: Site, tables: readonly Table[]): Table {
  const isOuter = ({ schema, name }: Table) => isNamed(scope, `table ${schema}.${name}`);
  const namesakes = tables.filter(
    (table) => !isOuter(table) && tables.some((other) => other.name === table.name && isOuter(other)),
  );
  return choices.pick(namesakes.length > 0 && choices.percent(40) ? namesakes : tables);
}

function table(site: Site, before: readonly Item[], found: Table): FromTree {
  const { world, ctes } = site;
  const { choices } = world;
  const isHidden = !found.isVisible || ctes.some(({ name }) => name === found.name);
  const bare = quoted(choices, found.name);
  const name = isHidden || choices.percent(35) ? `${quoted(choices, found.schema)}.${bare}` : bare;
  const columns = found.columns.map(({ name, type, isNotNull, tag }) => ({ name, type, isNotNull, tag }));
  const key = found.key.length === 0 ? undefined : found.key.map((column) => found.columns.indexOf(column));
  const written = found.obstacle === undefined ? name : marked({ kind: 'illegal', reason: found.obstacle }, name);
  const tree = poisonedTable(site, written);
  const isTaken = before.some(
    (other) => other.name === found.name && !(other.schema !== undefined && other.schema !== found.schema),
  );
  if (isTaken || choices.percent(55)) return aliased(site, { tree, columns, key, table: found }, before);
  return {
    tree,
    items: [{ tag: `from ${world.names++}`, name: found.name, schema: found.schema, columns, key, table: found }],
    merged: [],
  };
}

function poisonedTable({ world }: Site, name: Tree): Tree {
  const { poison } = world;
  if (poison?.result !== 'table') return name;
  world.poison = undefined;
  const [before, after] = poison.pieces[0]!.split('@') as [string, string];
  return marked({ kind: 'illegal', reason: poison.illegal! }, before, name, after);
}

function cte(site: Site, before: readonly Item[], usable: Site['ctes']): FromTree {
  const { choices } = site.world;
  const { name, columns, key } = choices.pick(usable);
  const isTaken = before.some((other) => other.name === name);
  const tree = quoted(choices, name);
  if (isTaken || choices.percent(40)) return aliased(site, { tree, columns, key }, before);
  return { tree, items: [{ tag: `from ${site.world.names++}`, name, columns, key }], merged: [] };
}

function derived(site: Site, before: readonly Item[], isKeyed: boolean): FromTree {
  const { tree, columns, key } = site.world.grammar.query(plain(deeper(site)), { isKeyed });
  return aliased(site, { tree: seq('(', tree, ')'), columns, key }, before);
}

function lateral(site: Site, before: readonly Item[], isKeyed: boolean): FromTree {
  const inner = plain(deeper(site), beside(site, before));
  const { tree, columns, key } = site.world.grammar.query(inner, { isKeyed });
  return aliased(site, { tree: seq('lateral (', tree, ')'), columns, key }, before);
}
