/**
 * Makes the names in a query independent of the tables that they refer to, so that another state of a table can be read
 * in its place.
 */
import type { Table } from '../../catalog/tables.js';
import type { Meaning } from '../analysis/meaning.js';
import type { QueryNode } from '../analysis/query-tree.js';
import { call, cast, columnRef, put } from '../parse/nodes.js';
import { type Level, type Reference, type Scopes, type Source, scopesOf, sourceOf } from '../parse/scopes.js';
import { names, type Tree } from '../parse/tree.js';

/** The table that a RangeVar reads. */
export type TableOf = (range: Tree) => Table;

/**
 * Gives a table an alias of its own if columns are written with the schema, since an inner table of the same name would
 * capture the bare name, or if two tables of one level have the same name.
 */
export function dropSchemas(select: Tree, meaning: Meaning, tableOf: TableOf): void {
  const scopes = scopesOf(select);
  const schemaOf = (range: Tree) => tableOf(range).schema;
  const source = (reference: Reference) => sourceOf(reference, schemaOf);
  const qualified = scopes.references.filter(({ names: parts }) => parts.length > 2);
  const renamed = [...qualified.flatMap((one) => source(one) ?? []), ...scopes.levels.flatMap(namesakes)];
  const aliases = aliasesOf(renamed, tableOf);
  const wholeRows = wholeRowsOf(scopes, meaning);
  for (const reference of scopes.references) {
    const alias = aliases.get(source(reference)!);
    if (alias === undefined) continue;
    if (reference.names.length > 1) put(reference.holder, columnRef(alias, reference.names.at(-1)!));
    else if (wholeRows.has(reference) || reference.isRow) putUnderName(scopes, reference, columnRef(alias));
  }
  for (const [{ table }, aliasname] of aliases) table!.alias = { aliasname };
}

/** The tables of a level that share their name with another source there. */
function namesakes({ sources }: Level): Source[] {
  return sources.filter((one) => one.table && sources.some((other) => other !== one && other.name === one.name));
}

/** One alias for each table, so that identical subqueries stay identical. */
function aliasesOf(sources: readonly Source[], tableOf: TableOf): Map<Source, string> {
  const tables = [...new Set(sources.map(({ table }) => tableOf(table!).oid))];
  return new Map(sources.map((one) => [one, `tidemark_t${tables.indexOf(tableOf(one.table!).oid) + 1}`]));
}

/** Adds the schema to tables whose bare names could be those of Tidemark's own WITH queries. */
export function addSchemas(select: Tree, tableOf: TableOf): void {
  for (const range of scopesOf(select).tables) {
    if (/^tidemark_/.test(range.relname as string)) range.schemaname ??= tableOf(range).schema;
  }
}

/**
 * Casts whole rows of tables to the tables' types, which they lose if another state of a table is read: functions are
 * found by the type, and JSON has the names of its columns. A row that an outer join has filled with nulls stays null.
 */
export function typeWholeRows(select: Tree, meaning: Meaning, tableOf: TableOf): void {
  const scopes = scopesOf(select);
  for (const reference of wholeRowsOf(scopes, meaning)) {
    const found = sourceOf(reference, (range) => tableOf(range).schema);
    if (!found?.table) continue;
    const row = typedRow(found.name!, found.table, tableOf(found.table));
    const [, field = '*'] = reference.names;
    if (field === '*') putUnderName(scopes, reference, row);
    // A function can be written as if it were a column of the row that it takes.
    else put(reference.holder, call([field], row));
  }
}

/** The name of a table's column where the table is read, which can be another than in the table. */
export function columnName(range: Tree, { columns }: Table, column: string): string {
  const renamed = names((range.alias as Tree | undefined)?.colnames);
  return renamed[columns.indexOf(column)] ?? column;
}

function typedRow(name: string, range: Tree, table: Table): Tree {
  const key = columnName(range, table, table.primaryKey[0]!.name);
  const expr = { NullTest: { arg: columnRef(name, key), nulltesttype: 'IS_NOT_NULL' } };
  const result = cast(columnRef(name, '*'), table.schema, table.name);
  return { CaseExpr: { args: [{ CaseWhen: { expr, result } }] } };
}

/** The references that Postgres has understood as whole rows. */
function wholeRowsOf({ references }: Scopes, meaning: Meaning): Set<Reference> {
  return new Set(references.filter(({ node }) => meaning.nodesOf(node).some(isWholeRow)));
}

function isWholeRow({ fields }: QueryNode): boolean {
  return fields.varattno === '0';
}

/** Replaces a reference. A column of the result keeps the name that it has from the way it was written. */
function putUnderName({ levels }: Scopes, { holder, names: parts }: Reference, node: Tree): void {
  const targets = levels.flatMap(({ select }) => (select.targetList ?? []) as { ResTarget: Tree }[]);
  const target = targets.find(({ ResTarget }) => namedBy(ResTarget.val as Tree) === holder)?.ResTarget;
  if (target) target.name ??= parts[0];
  put(holder, node);
}

/** A cast keeps the name of what is cast. */
function namedBy(value: Tree): Tree {
  const { TypeCast } = value as { TypeCast?: Tree };
  return TypeCast ? namedBy(TypeCast.arg as Tree) : value;
}
