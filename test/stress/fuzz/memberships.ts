/** Views as in applications: users see what they own, what is on one of their lists, and so on. */
import { identifier } from '../../../packages/tidemark/src/sql.js';
import type { Choices } from './choices.js';
import { parameterOf } from './constants.js';
import type { Schema } from './schema.js';
import { createShape } from './shape.js';
import type { Column, Table } from './tables.js';
import { list, part, seq, type Tree } from './tree.js';
import type { FuzzView } from './view.js';
import type { World } from './world.js';

interface Making {
  readonly world: Pick<World, 'choices' | 'parameters'>;
  readonly tables: readonly Table[];
  /** Counts the tables' names. */
  names: number;
}

/** A table with its name in the query. */
interface Range {
  readonly alias: string;
  readonly columns: readonly Column[];
}

/** The tables in scope, those of the query itself first. */
type Ranges = readonly [Range, ...Range[]];

/** Types with few values, which often have the same text. */
const alike: ReadonlySet<string> = new Set(['integer', 'bigint', 'text', 'uuid', 'boolean']);

/** Undefined if views can read none of the tables. */
export function createMembershipView(choices: Choices, schema: Schema, name: string): FuzzView | undefined {
  const tables = schema.tables.filter(({ key, obstacle }) => key.length > 0 && obstacle === undefined);
  if (tables.length === 0) return undefined;
  const making: Making = { world: { choices, parameters: [] }, tables, names: 0 };
  const table = choices.pick(tables);
  const range = rangeOf(making, table);
  const levels = choices.weighted([
    [15, 1],
    [60, 2],
    [25, 3],
  ]);
  const counted = choices.percent(20)
    ? [`, (select count(*) from `, ...listing(making, [range], levels - 1).from, ') as "how many"']
    : [];
  const tree = seq(`select ${range.alias}.*`, ...counted, ' from ', ...from(making, table, range, [range], levels));
  return { name, tree, key: table.key, shape: createShape(choices, table.columns) };
}

function rangeOf(making: Making, { columns }: Table): Range {
  return { alias: `r${making.names++}`, columns };
}

/** A query's tables, and its condition. */
function from(making: Making, table: Table, range: Range, ranges: Ranges, levels: number): Tree[] {
  const { choices } = making.world;
  const name = identifier(table.schema, table.name);
  const conditions = [
    condition(making, ranges, levels),
    ...(choices.percent(10) ? [condition(making, ranges, 0)] : []),
  ];
  return [`${name} ${range.alias}`, list(conditions, { before: ' where ', by: ' and ' })];
}

interface Listing {
  readonly range: Range;
  readonly from: readonly Tree[];
}

function listing(making: Making, outer: Ranges, levels: number): Listing {
  const { choices } = making.world;
  const table = choices.pick(making.tables);
  const range = rangeOf(making, table);
  if (!choices.percent(15)) return { range, from: from(making, table, range, [range, ...outer], levels) };
  const arm = () => {
    const inner = rangeOf(making, table);
    return [`select ${inner.alias}.* from `, ...from(making, table, inner, [inner, ...outer], levels)];
  };
  return { range, from: ['(', ...arm(), ' union all ', ...arm(), `) ${range.alias}`] };
}

function condition(making: Making, ranges: Ranges, levels: number): Tree {
  const { choices } = making.world;
  const isListed = levels > 0 ? listed(making, ranges, levels - 1) : undefined;
  if (!isListed) return part('expression boolean', 'true', ownerCondition(making, ranges));
  if (choices.percent(25)) return part('expression boolean', 'true', isListed);
  const other = choices.percent(25) && levels > 1 ? listed(making, ranges, levels - 2) : undefined;
  const parts = choices.shuffled([
    part('expression boolean', 'false', other ?? ownerCondition(making, ranges)),
    part('expression boolean', 'true', isListed),
  ]);
  return part('expression boolean', 'true', seq('(', parts[0]!, ' or ', parts[1]!, ')'));
}

/** Prefers the query itself to one around it. */
function columnOf(choices: Choices, ranges: Ranges, fits: (column: Column) => boolean): Tested | undefined {
  const range = choices.percent(85) ? ranges[0] : choices.pick(ranges);
  const found = range.columns.filter(fits);
  return found.length === 0 ? undefined : tested(range, choices.pick(found));
}

interface Tested {
  readonly column: Column;
  readonly tree: Tree;
}

function tested({ alias }: Range, column: Column): Tested {
  const { name, tag, type } = column;
  return { column, tree: { tag, least: `null::${type.name}`, parts: [`${alias}.${identifier(name)}`] } };
}

/** The row names its owner. */
function ownerCondition(making: Making, ranges: Ranges): Tree {
  const { choices } = making.world;
  const found = columnOf(choices, ranges, ({ type }) => type.isEqual);
  if (!found) return 'true';
  const operator = choices.weighted([
    [80, '='],
    [10, '<>'],
    [10, 'is not distinct from'],
  ]);
  return seq('(', found.tree, ` ${operator} `, parameterOf(making, found.column.type), ')');
}

/** The row is on a list that depends on the user. Undefined if no column of the row can be on one. */
function listed(making: Making, ranges: Ranges, levels: number): Tree | undefined {
  const { choices } = making.world;
  const outer = columnOf(choices, ranges, ({ type }) => type.isEqual);
  const { range, from } = listing(making, ranges, levels);
  const same = outer && range.columns.filter(({ type }) => type === outer.column.type);
  const near = range.columns.filter(({ type }) => alike.has(type.name));
  const isSame = same !== undefined && same.length > 0;
  if (!outer || !(isSame || (near.length > 0 && alike.has(outer.column.type.name)))) return undefined;
  const inner = tested(range, choices.pick(isSame ? same : near));
  const [one, other] = isSame ? [outer.tree, inner.tree] : [seq(outer.tree, '::text'), seq(inner.tree, '::text')];
  const form = choices.weighted([
    [80, 'in'],
    [8, '= any'],
    [8, 'not in'],
    [8, '<> all'],
    [16, 'exists'],
  ]);
  if (form !== 'exists') return seq('(', one, ` ${form} (select `, other, ' from ', ...from, '))');
  const equal = seq(other, ' = ', one);
  return seq(
    '(exists (select from (select ',
    `${range.alias}.* from `,
    ...from,
    `) ${range.alias} where `,
    equal,
    '))',
  );
}
