/** DDL that changes the tables themselves. */
import { identifier, quotedText } from '../../../packages/tidemark/src/sql.js';
import type { Choices } from './choices.js';
import type { Schema } from './schema.js';
import { relationOf, type Table } from './tables.js';
import { type List, list, tagged, textOf } from './tree.js';
import { familyOf, type SqlType } from './types.js';

export interface Ddl {
  readonly statements: List;
  /** The documentation requires `tidemark migrate` after it. */
  readonly needsMigrate: boolean;
  /** Leaves a table without a primary key. */
  readonly dropsKey: boolean;
}

export function ddl(choices: Choices, schema: Schema): Ddl {
  const table = choices.pick(schema.tables);
  const [statements, needsMigrate, dropsKey = false] = choices.pick(forms)(choices, table, schema);
  return {
    statements: list(
      statements.map((text) => tagged(table.tag, text)),
      { by: ';\n', after: ';\n' },
    ),
    needsMigrate,
    dropsKey,
  };
}

/** Types whose values have the same text with any session settings. */
const invariable: ReadonlySet<string> = new Set(
  'boolean smallint integer bigint numeric oid uuid text varchar char name json jsonb inet bit varbit enum caseless'.split(
    ' ',
  ),
);

function varies(type: SqlType): boolean {
  return !invariable.has(type.element ?? familyOf(type));
}

type Form = (
  choices: Choices,
  table: Table,
  schema: Schema,
) => readonly [statements: readonly string[], needsMigrate: boolean, dropsKey?: boolean];

const forms: readonly Form[] = [
  (choices, table, { types }) => {
    const type = choices.pick(types);
    const byDefault = type.isKey ? ` default ${quotedText(choices.pick(type.values))}` : '';
    return [
      [`alter table ${relationOf(table)} add column ${identifier('added later')} ${type.name}${byDefault}`],
      varies(type) && !table.columns.some((column) => varies(column.type)),
    ];
  },
  (choices, table) => {
    const { name } = choices.pick(table.columns);
    const isKey = table.key.some((column) => column.name === name);
    return [[`alter table ${relationOf(table)} drop column ${identifier(name)}`], false, isKey];
  },
  (choices, table) => {
    const { name } = choices.pick(table.columns);
    const isKey = table.key.some((column) => column.name === name);
    return [
      [`alter table ${relationOf(table)} rename column ${identifier(name)} to ${identifier(`${name} anew`)}`],
      isKey,
    ];
  },
  (choices, table) => {
    const { name, type } = choices.pick(table.columns);
    const isKey = table.key.some((column) => column.name === name);
    const other =
      type.name === 'integer'
        ? 'bigint'
        : type.name === 'numeric'
          ? 'numeric(40, 12)'
          : type.name === 'character varying(8)'
            ? 'text'
            : type.name;
    return [[`alter table ${relationOf(table)} alter column ${identifier(name)} type ${other}`], isKey];
  },
  (_, table) => [
    [
      `alter table ${relationOf(table)} set unlogged`,
      `update ${relationOf(table)} set ${same(table)}`,
      `alter table ${relationOf(table)} set logged`,
    ],
    false,
  ],
  (choices, table) => {
    const [partition] = table.partitions;
    if (partition === undefined) return [[`update ${relationOf(table)} set ${same(table)}`], false];
    const bound = 'default';
    const last = table.partitions.at(-1)!;
    return choices.percent(50)
      ? [[`truncate ${partition}`], false]
      : [
          [
            `alter table ${relationOf(table)} detach partition ${last}`,
            `delete from ${last}`,
            `alter table ${relationOf(table)} attach partition ${last} ${bound}`,
          ],
          false,
        ];
  },
  (_, table) => [[`drop table ${relationOf(table)} cascade`, ...table.creation.map(textOf)], true],
  (_, table) => [
    [
      `alter table ${relationOf(table)} rename to ${identifier('aside')}`,
      `alter table ${identifier(table.schema, 'aside')} rename to ${identifier(table.name)}`,
    ],
    false,
  ],
  (_, table) => [[`vacuum full ${relationOf(table)}`], false],
];

function same({ columns }: Table): string {
  const name = identifier(columns.find(({ isGenerated }) => !isGenerated)!.name);
  return `${name} = ${name}`;
}
