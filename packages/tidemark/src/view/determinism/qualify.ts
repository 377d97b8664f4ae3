/**
 * Makes the names in a query independent of the tables that they refer to, so that the query can read another state of
 * a table instead.
 */
import type { Table } from '../../catalog/tables.js';
import type { Meaning } from '../analysis/meaning.js';
import type { QueryNode } from '../analysis/query-tree.js';
import { tablesIn } from '../compile/rewrite.js';
import { call, cast, columnRef, put } from '../parse/nodes.js';
import { type FromItem, fromItemOf, type Level, type Reference, type Scopes, scopesOf } from '../parse/scopes.js';
import { names, type Tree } from '../parse/tree.js';

/** The tables of a query, by their names in it. Making it deterministic can copy parts of it, but keeps the names. */
export type NamedTables = ReadonlyMap<string, Table>;

/** @param tables the tables that the query reads, in the order of `tablesIn` */
export function namedTablesOf(select: Tree, tables: readonly Table[]): NamedTables {
  const named = tablesIn(select).flatMap((range, i): [string, Table][] => {
    const table = tables[i]!;
    return [range, { ...range, schemaname: table.schema }].map((one) => [nameOf(one), table]);
  });
  return new Map(named);
}

function nameOf({ schemaname, relname }: Tree): string {
  return JSON.stringify([schemaname, relname]);
}

/** Returns the table that a RangeVar reads. */
export function tableOf(range: Tree, namedTables: NamedTables): Table {
  return namedTables.get(nameOf(range))!;
}

/**
 * Gives a table its own alias if the query qualifies columns with the schema, because an inner table of the same name
 * would capture the bare name, or if two tables of one level have the same name.
 */
export function dropSchemas(select: Tree, meaning: Meaning, namedTables: NamedTables): void {
  const scopes = scopesOf(select);
  const schemaOf = (range: Tree) => tableOf(range, namedTables).schema;
  const fromItem = (reference: Reference) => fromItemOf(reference, schemaOf);
  const qualified = scopes.references.filter(({ names: parts }) => parts.length > 2);
  const renamed = [...qualified.flatMap((one) => fromItem(one) ?? []), ...scopes.levels.flatMap(namesakes)];
  const aliases = aliasesOf(renamed, namedTables);
  const wholeRows = wholeRowsOf(scopes, meaning);
  for (const reference of scopes.references) {
    const alias = aliases.get(fromItem(reference)!);
    if (alias === undefined) continue;
    if (reference.names.length > 1) put(reference.holder, columnRef(alias, reference.names.at(-1)!));
    else if (wholeRows.has(reference) || reference.isRow) putUnderName(scopes, reference, columnRef(alias));
  }
  for (const [{ table }, aliasname] of aliases) table!.alias = { aliasname };
}

/** Returns the tables of a level that share their name with another FROM item there. */
function namesakes({ fromItems }: Level): FromItem[] {
  return fromItems.filter((one) => one.table && fromItems.some((other) => other !== one && other.name === one.name));
}

/** Returns one alias for each table, so that identical subqueries stay identical. */
function aliasesOf(fromItems: readonly FromItem[], namedTables: NamedTables): Map<FromItem, string> {
  const tables = [...new Set(fromItems.map(({ table }) => tableOf(table!, namedTables).oid))];
  return new Map(
    fromItems.map((one) => [one, `tidemark_t${tables.indexOf(tableOf(one.table!, namedTables).oid) + 1}`]),
  );
}

/** Adds the schema to tables whose bare names could be names of Tidemark's own WITH queries. */
export function addSchemas(select: Tree, namedTables: NamedTables): void {
  for (const range of scopesOf(select).tables) {
    if (/^tidemark_/.test(range.relname as string)) range.schemaname ??= tableOf(range, namedTables).schema;
  }
}

/**
 * Casts whole rows of tables to the tables' types, which rows of another state lack. Postgres finds functions by this
 * type, and JSON has the names of its columns. A row that an outer join has filled with nulls stays null.
 */
export function typeWholeRows(select: Tree, meaning: Meaning, namedTables: NamedTables): void {
  const scopes = scopesOf(select);
  for (const reference of wholeRowsOf(scopes, meaning)) {
    const fromItem = fromItemOf(reference, (range) => tableOf(range, namedTables).schema);
    if (!fromItem?.table) continue;
    const row = typedRow(fromItem.name!, fromItem.table, tableOf(fromItem.table, namedTables));
    const [, field = '*'] = reference.names;
    if (field === '*') putUnderName(scopes, reference, row);
    // A function can be written like a column of the row that is its argument.
    else put(reference.holder, call([field], row));
  }
}

/** Returns the name of a table's column where the query reads it, which an alias can change. */
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

/** Returns the references that Postgres has resolved to whole rows. */
function wholeRowsOf({ references }: Scopes, meaning: Meaning): Set<Reference> {
  return new Set(references.filter(({ node }) => meaning.nodesOf(node).some(isWholeRow)));
}

function isWholeRow({ fields }: QueryNode): boolean {
  return fields.varattno === '0';
}

/** Replaces a reference. If it is a column of the result, the column keeps the name that the reference gave it. */
function putUnderName({ levels }: Scopes, { holder, names: parts }: Reference, node: Tree): void {
  const targets = levels.flatMap(({ select }) => (select.targetList ?? []) as { ResTarget: Tree }[]);
  const target = targets.find(({ ResTarget }) => namedBy(ResTarget.val as Tree) === holder)?.ResTarget;
  if (target) target.name ??= parts[0];
  put(holder, node);
}

/** A cast keeps the name of its operand. */
function namedBy(value: Tree): Tree {
  const { TypeCast } = value as { TypeCast?: Tree };
  return TypeCast ? namedBy(TypeCast.arg as Tree) : value;
}
