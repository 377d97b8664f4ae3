/** FROM items, and the ways to name them. */
import type { Choices } from './choices.js';
import { anyName, quoted } from './names.js';
import type { Source, Visible, Way } from './scope.js';
import type { Table } from './tables.js';
import { list, seq, type Tree, tagged } from './tree.js';
import type { Output, Site, World } from './world.js';

/** A FROM item. Each side of a join is an item of its own. */
export interface Item {
  /** Removed together with everything that identifies its rows. */
  readonly tag: string;
  /** The name that the query uses for it. */
  readonly name: string;
  /** Set for a table without an alias. */
  readonly schema?: string;
  readonly columns: readonly Output[];
  readonly key: readonly number[] | undefined;
  readonly table?: Table;
}

export interface FromTree {
  readonly tree: Tree;
  readonly items: readonly Item[];
  /** Columns that a join has merged. */
  readonly merged: readonly string[];
}

/** A name that no other item has. */
function freshAlias({ world: { choices, schema } }: Site, taken: readonly Item[]): string {
  for (;;) {
    const name = choices.percent(25) ? choices.pick(schema.tables).name : anyName(choices);
    if (!taken.some((item) => item.name === name)) return name;
    if (choices.percent(20)) return `${name} ${taken.length}`;
  }
}

/** Adds an alias, and sometimes names for its columns. */
export function aliased(
  site: Site,
  {
    tree,
    columns,
    key,
    table,
  }: { tree: Tree; columns: readonly Output[]; key: readonly number[] | undefined; table?: Table },
  taken: readonly Item[],
  mustName = false,
): FromTree {
  const { choices } = site.world;
  const name = freshAlias(site, taken);
  const renamed = mustName || choices.percent(15) ? columns.length : 0;
  const names = renameAll(choices, columns, renamed);
  const as = choices.percent(60) ? ' as ' : ' ';
  const aliases = list(
    columns.slice(0, renamed).map((column, i) => withTag(column, quoted(choices, names[i]!))),
    { before: ' (', after: ')' },
  );
  const item: Item = {
    tag: `from ${site.world.names++}`,
    name,
    columns: columns.map((column, i) => ({ ...column, name: names[i]! })),
    key,
    ...(table && { table }),
  };
  return { tree: seq(tree, as, quoted(choices, name), aliases), items: [item], merged: [] };
}

function renameAll(choices: Choices, columns: readonly Output[], count: number): string[] {
  const names: string[] = [];
  for (const [i, { name }] of columns.entries()) {
    let next = i < count ? anyName(choices) : name;
    for (let n = 2; names.includes(next) && i < count; n++) next = `${next}${n}`;
    names.push(next);
  }
  return names;
}

function withTag({ tag }: Output, tree: Tree): Tree {
  return tag === undefined ? tree : tagged(tag, tree);
}

/** The ways to name what the items contain, side by side in one FROM. */
export function sourcesOf(world: World, { items, merged }: Pick<FromTree, 'items' | 'merged'>): Source[] {
  const columnNames = items.flatMap(({ columns }) => columns.map(({ name }) => name));
  const isTwice = ({ columns }: Item, name: string) => columns.filter((column) => column.name === name).length > 1;
  const isBare = (name: string) => columnNames.filter((other) => other === name).length === 1 || merged.includes(name);
  return items.map((item): Source => {
    const { columns, key, name } = item;
    const isOnly = items.filter((other) => other.name === name).length === 1;
    const visible = columns.map((column) =>
      isTwice(item, column.name)
        ? { ...column, ways: [] }
        : visibleOf(world, item, column, { isBare: isBare(column.name), isOnly }),
    );
    return {
      columns: visible.filter(({ ways }) => ways.length > 0),
      key: key?.some((i) => visible[i]!.ways.length === 0) ? undefined : key?.map((i) => visible[i]!),
      tag: item.tag,
      names: new Set([
        `item ${name}`,
        `table ${item.schema}.${name}`,
        ...columns.map((column) => `column ${column.name}`),
      ]),
      rows: isOnly && !columnNames.includes(name) ? rowsOf(world, name) : [],
      attributes: isOnly ? attributesOf(world, item) : [],
    };
  });
}

function visibleOf(
  { choices }: World,
  { name: of, schema }: Item,
  { name, type, isNotNull, isNullByJoin = false, tag }: Output,
  { isBare, isOnly }: { isBare: boolean; isOnly: boolean },
): Visible {
  const ways: Way[] = [];
  const column = quoted(choices, name);
  if (isBare) ways.push({ text: column, head: `column ${name}` });
  if (isOnly) ways.push({ text: `${quoted(choices, of)}.${column}`, head: `item ${of}` });
  if (schema !== undefined) {
    ways.push({ text: `${quoted(choices, schema)}.${quoted(choices, of)}.${column}`, head: `table ${schema}.${of}` });
  }
  if (isOnly && choices.percent(10)) ways.push({ text: `(${quoted(choices, of)}).${column}`, head: `item ${of}` });
  return { type, isNotNull, isNullByJoin, ways, ...(tag !== undefined && { tag }) };
}

function rowsOf({ choices }: World, name: string): Way[] {
  return [{ text: quoted(choices, name), head: `item ${name}` }];
}

function attributesOf({ choices, schema: { routines } }: World, { name, table }: Item): Source['attributes'] {
  if (table === undefined) return [];
  return routines.flatMap(({ attribute }) => {
    if (attribute?.table !== table) return [];
    const head = `item ${name}`;
    const text = `${quoted(choices, name)}.${quoted(choices, attribute.name)}`;
    const ways = [
      { text, head },
      { text: `(${quoted(choices, name)}).${quoted(choices, attribute.name)}`, head },
    ];
    const { type, illegal } = attribute;
    return [{ type, isNotNull: false, ways, ...(illegal !== undefined && { illegal }) }];
  });
}
