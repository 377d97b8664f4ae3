/** The database of a case: its types, tables, routines and initial rows. */
import { identifier, quotedText } from '../../../packages/tidemark/src/sql.js';
import type { Choices } from './choices.js';
import { mostlyFew } from './constants.js';
import { anyName, distinctNames } from './names.js';
import { createRoutines, type Routine } from './routines.js';
import { createTable, type Table } from './tables.js';
import { type List, list, seq, type Tree } from './tree.js';
import { basicTypes, createdTypes, furtherTypes, type SqlType } from './types.js';

export interface Schema {
  /** The statements that create and fill it. */
  readonly setup: List;
  readonly rows: List;
  readonly types: readonly SqlType[];
  readonly tables: readonly Table[];
  readonly routines: readonly Routine[];
}

export function createSchema(choices: Choices, version: number): Schema {
  const second = choices.pick(['o', 'Other', 'order', anyName(choices)]);
  const schemas = second === 'public' ? ['public'] : ['public', second];
  const path = choices.percent(15) ? [...schemas].reverse() : ['public'];
  const created = choices
    .some(createdTypes, 2, 0)
    .map((create, i) => create(identifier(choices.pick(schemas), ['mood', 'two words', 'T', 'kind'][i]!)));
  const further = choices.some(
    furtherTypes.filter(({ since = 0 }) => since <= version),
    6,
    2,
  );
  const types = [...basicTypes, ...further, ...created];
  const tables = createTables(choices, { version, schemas, path, types });
  const routines = createRoutines(choices, { schemas, types, tables });
  return {
    setup: list(
      [
        ...(types.some(({ name }) => name === 'citext') ? ['create extension if not exists citext'] : []),
        ...schemas.filter((name) => name !== 'public').map((name) => `create schema ${identifier(name)}`),
        ...(path[0] === 'public' ? [] : [searchPath(path)]),
        ...created.map(({ creation }) => creation!),
        ...tables.flatMap((table) => table.creation),
        ...routines.map((routine) => routine.creation),
      ],
      { by: ';\n', after: ';\n' },
    ),
    rows: list(
      tables.flatMap((table) => firstRows(choices, table)),
      { by: ';\n', after: ';\n' },
    ),
    types,
    tables,
    routines,
  };
}

/** The search path of an application that keeps its tables in their own schema. */
function searchPath(path: readonly string[]): string {
  const names = path.map((name) => identifier(name)).join(', ');
  return `do ${quotedText(`begin execute format('alter database %I set search_path = ${names.replaceAll("'", "''")}', current_database()); end`)}`;
}

interface SchemaContext {
  readonly version: number;
  readonly schemas: readonly string[];
  readonly path: readonly string[];
  readonly types: readonly SqlType[];
}

function createTables(choices: Choices, context: SchemaContext): Table[] {
  const { schemas, path } = context;
  const names = distinctNames(choices, 4);
  const relations: { schema: string; name: string }[] = [];
  for (
    let i = 0,
      count = choices.weighted([
        [3, 1],
        [5, 2],
        [2, 3],
        [1, 4],
      ]);
    i < count;
    i++
  ) {
    const last = relations.at(-1);
    const elsewhere =
      last &&
      schemas.find(
        (schema) => !relations.some((relation) => relation.schema === schema && relation.name === last.name),
      );
    if (last && elsewhere !== undefined && choices.percent(45)) relations.push({ schema: elsewhere, name: last.name });
    else relations.push({ schema: choices.pick(schemas), name: names[i]! });
  }
  const tables: Table[] = [];
  for (const relation of relations) {
    const visible = path.find((schema) =>
      relations.some((other) => other.schema === schema && other.name === relation.name),
    );
    tables.push(
      createTable(choices, { ...context, ...relation, isVisible: visible === relation.schema, others: tables }),
    );
  }
  return tables;
}

function firstRows(choices: Choices, table: Table): Tree[] {
  return choices.times(1, 2, () => seq(insertion(choices, table, choices.between(3, 8)), ' on conflict do nothing'));
}

/** An INSERT of some rows. Removing a column also removes its values. */
export function insertion(choices: Choices, table: Table, rows: number): Tree {
  const columns = table.columns.filter(({ isGenerated }) => !isGenerated);
  const values = Array.from({ length: rows }, () =>
    list(
      columns.map((column) => ({ tag: column.tag, least: 'default', parts: [valueFor(choices, column)] })),
      { before: '(', after: ')', min: 1 },
    ),
  );
  return {
    tag: table.tag,
    parts: [
      `insert into ${identifier(table.schema, table.name)} `,
      list(
        columns.map(({ tag, name }) => ({ tag, parts: [identifier(name)] })),
        { before: '(', after: ')', min: 1 },
      ),
      ' values ',
      list(values, { min: 1 }),
    ],
  };
}

/** A value to store, as a literal without a type. */
export function valueFor(choices: Choices, { type, isNotNull }: { type: SqlType; isNotNull: boolean }): string {
  if (!isNotNull && choices.percent(12)) return 'null';
  return quotedText(choices.pick(mostlyFew(choices, type.values)));
}
