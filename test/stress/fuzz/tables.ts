/** All kinds of tables that can be captured, and some that cannot. */
import { identifier, quotedText } from '../../../packages/tidemark/src/sql.js';
import type { Choices } from './choices.js';
import { distinctNames } from './names.js';
import { list, seq, type Tree, tagged } from './tree.js';
import type { SqlType } from './types.js';

export interface Column {
  /** The tag of everything that names it. */
  readonly tag: string;
  readonly name: string;
  readonly type: SqlType;
  readonly isNotNull: boolean;
  readonly isGenerated: boolean;
}

export interface Table {
  readonly tag: string;
  readonly schema: string;
  readonly name: string;
  /** The search path finds its bare name. */
  readonly isVisible: boolean;
  readonly columns: readonly Column[];
  readonly key: readonly Column[];
  /** The reason why views must not read it. */
  readonly obstacle?: string;
  readonly partitions: readonly string[];
  readonly creation: readonly Tree[];
}

/** Its name in SQL. */
export function relationOf({ schema, name }: Pick<Table, 'schema' | 'name'>): string {
  return identifier(schema, name);
}

export interface TableContext {
  readonly version: number;
  readonly schema: string;
  readonly name: string;
  readonly isVisible: boolean;
  readonly types: readonly SqlType[];
  /** Tables that it can refer to. */
  readonly others: readonly Table[];
}

type Kind = 'plain' | 'list' | 'range' | 'unlogged' | 'keyless' | 'parent';

const obstacles: Partial<Record<Kind, string>> = {
  unlogged: 'an unlogged table',
  keyless: 'a table without a primary key',
  parent: 'a table with INHERITS children',
};

const ordinaryKeys = ['integer', 'text', 'uuid', 'bigint'];

export function createTable(choices: Choices, context: TableContext): Table {
  const { schema, name, isVisible } = context;
  const tag = `table ${schema}.${name}`;
  const columns = createColumns(choices, context, tag);
  const kind = chooseKind(choices, columns[0]!.type);
  const key = columns.filter(({ tag }) => tag.includes(' key '));
  const relation = identifier(schema, name);
  const define = (column: Column, i: number): Tree =>
    tagged(column.tag, definitionOf(choices, column, columns, context, i));
  const constraint =
    kind === 'keyless' ? [] : [`primary key (${key.map((column) => identifier(column.name)).join(', ')})`];
  const body = list([...columns.map(define), ...constraint, ...reference(choices, context, columns, kind)], {
    before: ' (\n  ',
    by: ',\n  ',
    after: '\n)',
  });
  const isPartitioned = kind === 'list' || kind === 'range';
  const by = isPartitioned ? ` partition by ${kind} (${identifier(key[0]!.name)})` : '';
  const main = seq(`create ${kind === 'unlogged' ? 'unlogged ' : ''}table ${relation}`, body, by);
  const partitions = isPartitioned ? createPartitions(choices, { parent: relation, schema, name, kind, columns }) : [];
  const children =
    kind === 'parent' ? [`create table ${identifier(schema, `${name} child`)} () inherits (${relation})`] : [];
  const obstacle = obstacles[kind];
  return {
    tag,
    schema,
    name,
    isVisible,
    columns,
    key: kind === 'keyless' ? [] : key,
    ...(obstacle !== undefined && { obstacle }),
    partitions: partitions.map(({ relation }) => relation),
    creation: [main, ...partitions.flatMap(({ creation }) => creation), ...children].map((tree) => tagged(tag, tree)),
  };
}

/** Partitions only if the key's type allows it: exact values for a list, a value to split at for ranges. */
function chooseKind(choices: Choices, keyType: SqlType): Kind {
  const wish = choices.weighted<Kind>([
    [78, 'plain'],
    [9, 'list'],
    [7, 'range'],
    [2, 'unlogged'],
    [2, 'keyless'],
    [2, 'parent'],
  ]);
  if (wish === 'list' && (!keyType.isExact || new Set(keyType.values).size < 4)) return 'plain';
  return wish === 'range' && middles[keyType.name] === undefined ? 'plain' : wish;
}

function createColumns(choices: Choices, { types, name, others }: TableContext, tableTag: string): Column[] {
  const namesake = others.find((other) => other.name === name);
  if (namesake && choices.percent(60)) return columnsAs(namesake, tableTag);
  const keys = types.filter(({ isKey }) => isKey);
  const ordinary = keys.filter((type) => ordinaryKeys.includes(type.name));
  const keyTypes = choices.times(1, choices.percent(30) ? 2 : 1, () =>
    choices.pick(choices.percent(70) ? ordinary : keys),
  );
  const otherTypes = choices.times(1, 5, () => choices.pick(types));
  const names = distinctNames(choices, keyTypes.length + otherTypes.length);
  return [...keyTypes, ...otherTypes].map((type, i) => {
    const isKey = i < keyTypes.length;
    return {
      tag: `${tableTag}${isKey ? ' key' : ''} ${i}`,
      name: names[i]!,
      type,
      isNotNull: isKey || choices.percent(25),
      isGenerated: !isKey && choices.percent(8) && ['integer', 'text'].includes(type.name),
    };
  });
}

/** The columns of another tenant's table, so that reading one table instead of the other raises no error. */
function columnsAs({ tag, columns }: Table, tableTag: string): Column[] {
  return columns.map((column) => ({ ...column, tag: column.tag.replace(tag, () => tableTag) }));
}

function definitionOf(
  choices: Choices,
  column: Column,
  columns: readonly Column[],
  context: TableContext,
  i: number,
): string {
  const { name, type, isNotNull, isGenerated } = column;
  const start = `${identifier(name)} ${type.name}`;
  if (isGenerated) {
    const source = columns.slice(0, i).find((other) => !other.isGenerated && other.type === type);
    const origin = source ? identifier(source.name) : type.name === 'integer' ? '5' : `'g'`;
    const storage = context.version >= 18 && choices.percent(50) ? 'virtual' : 'stored';
    return `${start} generated always as (coalesce(${origin}, ${type.name === 'integer' ? '0) + 1' : `'') || 'g'`}) ${storage}`;
  }
  const byDefault = choices.percent(20) ? ` default ${quotedText(choices.pick(type.values))}` : '';
  return `${start}${byDefault}${isNotNull ? ' not null' : ''}`;
}

/** A foreign key whose actions change rows. */
function reference(choices: Choices, { others }: TableContext, columns: readonly Column[], kind: Kind): Tree[] {
  if (kind === 'unlogged' || !choices.percent(15)) return [];
  const pairs = others
    .filter((other) => other.key.length === 1 && other.obstacle === undefined)
    .flatMap((other) =>
      columns
        .filter((column) => column.type === other.key[0]!.type && !column.isGenerated && !column.isNotNull)
        .map((column) => ({ other, column })),
    );
  if (pairs.length === 0) return [];
  const { other, column } = choices.pick(pairs);
  const action = choices.pick(['cascade', 'set null', 'no action deferrable initially deferred']);
  const target = `${identifier(other.schema, other.name)} (${identifier(other.key[0]!.name)})`;
  return [
    tagged(
      column.tag,
      `foreign key (${identifier(column.name)}) references ${target} on update cascade on delete ${action}`,
    ),
  ];
}

interface Partition {
  readonly relation: string;
  readonly creation: readonly Tree[];
}

interface Partitioning {
  readonly parent: string;
  readonly schema: string;
  readonly name: string;
  readonly kind: Kind;
  readonly columns: readonly Column[];
}

/** Two partitions, and a default one. */
function createPartitions(choices: Choices, { parent, schema, name, kind, columns }: Partitioning): Partition[] {
  const bounds = (kind === 'list' ? listBounds : rangeBounds)(choices, columns[0]!.type);
  return [...bounds.map((bound) => `for values ${bound}`), 'default'].map((bound, i) => {
    const relation = identifier(schema, `part ${i} of ${name}`);
    return { relation, creation: partitionOf(choices, parent, relation, bound, columns) };
  });
}

/** Created as a partition, or attached with its columns in another order and one dropped column. */
function partitionOf(
  choices: Choices,
  parent: string,
  relation: string,
  bound: string,
  columns: readonly Column[],
): Tree[] {
  if (columns.some(({ isGenerated }) => isGenerated) || choices.percent(50)) {
    return [`create table ${relation} partition of ${parent} ${bound}`];
  }
  const own = choices
    .shuffled(columns)
    .map(({ tag, name, type, isNotNull }) =>
      tagged(tag, `${identifier(name)} ${type.name}${isNotNull ? ' not null' : ''}`),
    );
  return [
    seq(`create table ${relation} `, list(['gone integer', ...own], { before: '(', after: ')' })),
    `alter table ${relation} drop gone`,
    `alter table ${parent} attach partition ${relation} ${bound}`,
  ];
}

function listBounds(choices: Choices, { values }: SqlType): string[] {
  const [first, second, ...rest] = choices.shuffled([...new Set(values)]);
  return [
    `in (${[first, ...rest.slice(0, 1)].map((value) => quotedText(value!)).join(', ')})`,
    `in (${quotedText(second!)})`,
  ];
}

const middles: Readonly<Record<string, readonly [string, string]>> = {
  integer: ['1', '3'],
  bigint: ['1', '10'],
  text: ['b', 'i'],
  uuid: ['10000000-0000-0000-0000-000000000000', 'b0000000-0000-0000-0000-000000000000'],
};

function rangeBounds(_: Choices, { name }: SqlType): string[] {
  const [low, high] = middles[name]!;
  return [`from (minvalue) to (${quotedText(low)})`, `from (${quotedText(low)}) to (${quotedText(high)})`];
}
