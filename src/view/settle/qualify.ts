/**
 * Makes the names in a query independent of the tables that they stand for, so that another state of a table can be read in its place.
 */
import type { Table } from '../../db/catalog.js';
import type { Meaning } from '../analysis/meaning.js';
import type { QueryNode } from '../analysis/query-tree.js';
import { call, cast, columnRef, put } from '../parse/nodes.js';
import { type Reference, type Scopes, type Source, scopesOf, sourceOf } from '../parse/scopes.js';
import { names, type Tree } from '../parse/tree.js';

/** The table that a RangeVar reads. */
export type TableOf = (range: Tree) => Table;

/** Gives each column reference with a schema an alias of its table's own: an inner table of the same name would capture the bare name. */
export function dropSchemas(select: Tree, meaning: Meaning, tableOf: TableOf): boolean {
  const scopes = scopesOf(select);
  const schemaOf = (range: Tree) => tableOf(range).schema;
  const source = (reference: Reference) => sourceOf(reference, schemaOf);
  const renamed = new Map<Source, string>();
  for (const reference of scopes.references) {
    if (reference.names.length < 3) continue;
    const found = source(reference);
    if (found?.table && !renamed.has(found)) renamed.set(found, `tidemark_t${renamed.size + 1}`);
  }
  if (renamed.size === 0) return false;
  const wholeRows = wholeRowsOf(scopes, meaning, source);
  for (const reference of scopes.references) {
    const alias = renamed.get(source(reference)!);
    if (alias === undefined) continue;
    if (reference.names.length > 1) put(reference.holder, columnRef(alias, reference.names.at(-1)!));
    else if (wholeRows.has(reference) || reference.isRow) putUnderName(scopes, reference, columnRef(alias));
  }
  for (const [{ table }, aliasname] of renamed) table!.alias = { aliasname };
  return true;
}

/** Says in which schemas those tables are whose bare names could be those of WITH queries of Tidemark's own. */
export function addSchemas(select: Tree, tableOf: TableOf): void {
  for (const range of scopesOf(select).tables) {
    if (/^tidemark_/.test(range.relname as string)) range.schemaname ??= tableOf(range).schema;
  }
}

/**
 * Casts whole rows of tables to the tables' types, which they lose where another state of a table is read: functions are found by the
 * type, and JSON has the names of its columns. A row that an outer join has filled up with nulls stays null.
 */
export function typeWholeRows(select: Tree, meaning: Meaning, tableOf: TableOf): void {
  const scopes = scopesOf(select);
  const source = (reference: Reference) => sourceOf(wholeRowName(reference), (range) => tableOf(range).schema);
  const wholeRows = wholeRowsOf(scopes, meaning, source);
  if (wholeRows.size === 0) return;
  for (const reference of wholeRows) {
    const found = source(reference);
    if (!found?.table) continue;
    const row = typedRow(found.name!, found.table, tableOf(found.table));
    const last = reference.names.at(-1)!;
    // A function can be written as if it were a column of the row that it takes.
    const isCall = reference.names.length > 1 && last !== '*';
    if (isCall) put(reference.holder, call([last], row));
    else putUnderName(scopes, reference, row);
  }
}

function typedRow(name: string, range: Tree, { schema, name: table, columns, primaryKey }: Table): Tree {
  const key = columns.indexOf(primaryKey[0]!.name);
  const renamed = names((range.alias as Tree | undefined)?.colnames);
  const expr = {
    NullTest: { arg: columnRef(name, renamed[key] ?? columns[key]!), nulltesttype: 'IS_NOT_NULL' },
  };
  return { CaseExpr: { args: [{ CaseWhen: { expr, result: cast(columnRef(name, '*'), schema, table) } }] } };
}

/** The references that Postgres has read as whole rows. */
function wholeRowsOf(
  { references }: Scopes,
  meaning: Meaning,
  source: (reference: Reference) => Source | undefined,
): Set<Reference> {
  const known = references.filter(({ node }) => meaning.nodesOf(node).some(isWholeRow));
  // Of a row that is grouped by, Postgres forgets the places.
  const grouped = references.filter(
    (reference) =>
      reference.names.length === 1 &&
      meaning.nodesOf(reference.node).length === 0 &&
      known.some((other) => other.names.join() === reference.names.join() && source(other) === source(reference)),
  );
  return new Set([...known, ...grouped]);
}

function isWholeRow({ tag, fields }: QueryNode): boolean {
  return tag === 'VAR' && fields.varattno === '0';
}

/** `x`, `x.*` and `x.f`, where f is a function, all mean the row x. */
function wholeRowName(reference: Reference): Reference {
  return reference.names.length === 1 ? reference : { ...reference, names: [...reference.names.slice(0, -1), '*'] };
}

/** A column of the result keeps the name that it has from what it was written as. */
function putUnderName({ levels }: Scopes, { holder, names: parts }: Reference, node: Tree): void {
  const targets = levels.flatMap(({ select }) => (select.targetList ?? []) as { ResTarget: Tree }[]);
  const target = targets.find(({ ResTarget }) => ResTarget.val === holder)?.ResTarget;
  if (target) target.name ??= parts[0];
  put(holder, node);
}
