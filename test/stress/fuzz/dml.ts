/** Statements that write. */
import { identifier, quotedText } from '../../../packages/tidemark/src/sql.js';
import type { Choices } from './choices.js';
import { mostlyFew } from './constants.js';
import { insertion, type Schema, valueFor } from './schema.js';
import { type Column, relationOf, type Table } from './tables.js';
import { list, optional, seq, type Tree, tagged } from './tree.js';

type Write = (choices: Choices, table: Table, schema: Schema) => Tree;

const writes: readonly (readonly [number, Write])[] = [
  [22, (choices, table) => insertion(choices, table, choices.between(1, 3))],
  [34, update],
  [16, remove],
  [10, upsert],
  [6, merge],
  [5, copy],
  [4, insertFromItself],
  [3, deleteAndInsert],
];

/** @param isAlone True if no other transaction waits for its locks. */
export function writing(choices: Choices, schema: Schema, isAlone: boolean): Tree {
  const table = choices.pick(schema.tables);
  if (isAlone && choices.percent(2)) return tagged(table.tag, truncation(choices, table));
  return tagged(table.tag, choices.weighted(writes)(choices, table, schema));
}

function writable(table: Table): Column[] {
  return table.columns.filter(({ isGenerated }) => !isGenerated);
}

/** Selects rows: all, those with one value, or one by its key. */
function condition(choices: Choices, table: Table, of = ''): Tree {
  const comparable = table.columns.filter(({ type }) => type.isEqual);
  const column = choices.percent(50) && table.key.length > 0 ? choices.pick(table.key) : choices.pick(comparable);
  const name = `${of}${identifier(column.name)}`;
  const value = quotedText(choices.pick(mostlyFew(choices, column.type.values)));
  const text = choices.weighted([
    [55, `${name} = ${value}`],
    [8, `${name} is null`],
    [20, `${name} <> ${value}`],
    [6, column.type.isOrdered ? `${name} > ${value}` : `${name} is not null`],
  ]);
  return tagged(column.tag, text);
}

function where(choices: Choices, table: Table, of?: string): Tree {
  return list(choices.percent(75) ? [condition(choices, table, of)] : [], { before: ' where ', by: ' and ' });
}

/** New values for some columns, including key columns. Some happen to equal the old ones. */
function assignments(choices: Choices, table: Table): Tree {
  const others = writable(table).filter((column) => !table.key.includes(column));
  const changed = choices.some(choices.percent(80) && others.length > 0 ? others : writable(table), 3);
  return list(
    changed.map((column) => tagged(column.tag, `${identifier(column.name)} = ${newValue(choices, table, column)}`)),
    { min: 1 },
  );
}

function newValue(choices: Choices, table: Table, column: Column): string {
  const alike = table.columns.filter((other) => other.type === column.type && other !== column && !other.isGenerated);
  if (alike.length > 0 && !column.isNotNull && choices.percent(15)) return identifier(choices.pick(alike).name);
  if (column.type.name === 'integer' && choices.percent(30)) return `${identifier(column.name)} % 1000 + 1`;
  if (column.type.name === 'boolean' && choices.percent(50)) return `not ${identifier(column.name)}`;
  return valueFor(choices, column);
}

function update(choices: Choices, table: Table): Tree {
  return seq(`update ${relationOf(table)} set `, assignments(choices, table), where(choices, table));
}

function remove(choices: Choices, table: Table): Tree {
  return seq(`delete from ${relationOf(table)}`, where(choices, table));
}

function keyNames({ key }: Table): string {
  return key.map(({ name }) => identifier(name)).join(', ');
}

function upsert(choices: Choices, table: Table): Tree {
  if (table.key.length === 0) return update(choices, table);
  const start = seq(insertion(choices, table, choices.between(1, 2)), ` on conflict (${keyNames(table)}) do `);
  const others = writable(table).filter((column) => !table.key.includes(column));
  if (others.length === 0 || choices.percent(25)) return seq(start, 'nothing');
  const set = choices.some(others, 2).map((column) => {
    const value = choices.percent(60) ? `excluded.${identifier(column.name)}` : valueFor(choices, column);
    return tagged(column.tag, `${identifier(column.name)} = ${value}`);
  });
  return seq(start, 'update set ', list(set, { min: 1 }));
}

function merge(choices: Choices, table: Table): Tree {
  if (table.key.length === 0) return update(choices, table);
  const key = choices.pick(table.key);
  const name = identifier(key.name);
  const values = choices.some(key.type.values, 3).map((value) => `(${quotedText(value)}::${key.type.name})`);
  const others = writable(table).filter((column) => !table.key.includes(column));
  const matched = choices.pick(['delete', 'do nothing', 'update']);
  const change =
    matched === 'update' && others.length > 0
      ? seq(
          'update set ',
          list([tagged(others[0]!.tag, `${identifier(others[0]!.name)} = ${valueFor(choices, others[0]!)}`)], {
            min: 1,
          }),
        )
      : matched === 'update'
        ? 'delete'
        : matched;
  const columns = writable(table);
  const inserted = columns.map((column) => (column === key ? 's.k' : valueFor(choices, column)));
  return seq(
    `merge into ${relationOf(table)} t using (values `,
    list([...new Set(values)], { min: 1 }),
    `) s (k) on t.${name} = s.k when matched then `,
    change,
    optional(
      ` when not matched then insert (`,
      list(
        columns.map((column) => tagged(column.tag, identifier(column.name))),
        { min: 1 },
      ),
      ') values (',
      list(
        columns.map((column, i) => tagged(column.tag, inserted[i]!)),
        { min: 1 },
      ),
      ')',
    ),
  );
}

/** COPY's text format, in which backslashes and tabs have a meaning. */
function copy(choices: Choices, table: Table): Tree {
  const columns = writable(table);
  const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
  const lines = choices.times(1, 3, () =>
    list(
      columns.map((column) => {
        const isNull = !column.isNotNull && choices.percent(15);
        return tagged(column.tag, isNull ? '\\N' : escaped(choices.pick(column.type.values)));
      }),
      { by: '\t', min: 1 },
    ),
  );
  const names = list(
    columns.map((column) => tagged(column.tag, identifier(column.name))),
    { min: 1 },
  );
  return seq(`copy ${relationOf(table)} (`, names, ') from stdin;\n', list(lines, { by: '\n', min: 1 }), '\n\\.');
}

/** Copies of existing rows, under other keys. */
function insertFromItself(choices: Choices, table: Table): Tree {
  const key = table.key[0];
  if (!key) return update(choices, table);
  const columns = writable(table);
  const values = columns.map((column) =>
    tagged(column.tag, column === key ? `${quotedText(choices.pick(key.type.values))}` : identifier(column.name)),
  );
  const names = list(
    columns.map((column) => tagged(column.tag, identifier(column.name))),
    { min: 1 },
  );
  return seq(
    `insert into ${relationOf(table)} (`,
    names,
    ') select ',
    list(values, { min: 1 }),
    ` from ${relationOf(table)} limit 1 on conflict do nothing`,
  );
}

function deleteAndInsert(choices: Choices, table: Table): Tree {
  return seq(
    `with gone as (delete from ${relationOf(table)}`,
    where(choices, table),
    ' returning *) ',
    insertion(choices, table, 1),
  );
}

function truncation(choices: Choices, table: Table): Tree {
  if (table.partitions.length > 0 && choices.percent(50)) return `truncate ${choices.pick(table.partitions)}`;
  return `truncate ${relationOf(table)} cascade`;
}
