/** Analyzes a view's query: its tables, its strategy, and whether it can be served at all. */
import type { Table } from '../catalog/tables.js';
import type { Database, ParameterForm, ResultColumn } from '../db/database.js';
import { isWithoutOperator } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import { decidingColumns } from './analysis/deciding-columns.js';
import { primaryKeysOf } from './analysis/exactness.js';
import { readFacts } from './analysis/facts.js';
import { followable } from './analysis/followable.js';
import { type Meaning, understand } from './analysis/meaning.js';
import { checkMoments, guardMoments, momentParameters } from './analysis/moments.js';
import { isSameQuery, parseQueryTree, type QueryNode } from './analysis/query-tree.js';
import { type ReadColumns, readColumns } from './analysis/read-columns.js';
import { isSeparable } from './analysis/separable.js';
import { checkStability } from './analysis/stability.js';
import { identifiesRows } from './analysis/unique-keys.js';
import { tablesIn } from './compile/rewrite.js';
import { type Strategy, whyNotMonotone } from './compile/strategy.js';
import { inspect } from './inspect.js';
import { deparseSelect, isSame, parserLoaded, parseStatement } from './parse/syntax.js';
import { render, toTemplate } from './parse/template.js';
import { cloneTree, type Tree, visits } from './parse/tree.js';
import { divide } from './partition/divide.js';
import { isForFirstRows } from './partition/first-rows.js';
import { inlineWith } from './partition/inline-with.js';
import type { Partition } from './partition/partition.js';
import { settleAggregates } from './settle/aggregates.js';
import { settleDuplicates } from './settle/duplicates.js';
import { groupByColumns } from './settle/grouping.js';
import { settleNotIn } from './settle/not-in.js';
import { makesRows, type Settling, settleOrders } from './settle/order.js';
import { addSchemas, dropSchemas, type TableOf, typeWholeRows } from './settle/qualify.js';
import { settleWindows } from './settle/windows.js';

/** What is known about a view's query. */
export interface Analysis {
  readonly strategy: Strategy;
  /** Why the strategy is not `incremental`. */
  readonly reason: string | undefined;
  /** See `whyNotMonotone`. */
  readonly isMonotone: boolean;
  /** The query as it is served: its result is a function of the rows of its tables. */
  readonly text: string;
  readonly select: Tree;
  /** The query as other states of its tables are read in it: without WITH, if it can be written so. */
  readonly inlined: Tree;
  /** What tells changes that affect the view from others; undefined for most `incremental` views, and if nothing does. */
  readonly partition: Partition | undefined;
  /** The table of each occurrence, in `inlined`, in the order of `tablesIn`. */
  readonly tables: readonly Table[];
  readonly columns: readonly ResultColumn[];
  /** The columns of its tables that the query reads. */
  readonly reads: ReadColumns;
  /** Those of them that decide what keys the view has. */
  readonly decides: ReadColumns;
  /** The SQL names of the parameters' types. */
  readonly parameterTypes: readonly string[];
  readonly parameterForms: readonly ParameterForm[];
  /** The numbers of the parameters that are read as dates or times. */
  readonly momentParameters: ReadonlySet<number>;
  /** Equal parameter values must not look like the same expression: GROUPING SETS would confuse them. */
  readonly keepsParametersApart: boolean;
  /** Several rows of the query can share a key; one of them belongs to the view. */
  readonly choosesByKey: boolean;
  /** Nothing proves that each row of the query has a key of its own; see `identifiesRows`. */
  readonly keysMayRepeat: boolean;
  /** See `isSeparable`. */
  readonly isSeparable: boolean;
}

/**
 * Analyzes a query against the database's catalogs.
 * @param key the columns of the result that identify a row
 * @param isDivided whether to find the companions of an incremental view too, which pulls do not need
 * @throws SetupError if a view with this query cannot be right; the message says why and what to do.
 */
export async function analyze(
  db: Database,
  given: string,
  key: readonly string[],
  isDivided = false,
): Promise<Analysis> {
  await parserLoaded;
  const { select, text } = parseView(given);
  inspect(select);
  const tables: Table[] = [];
  for (const range of tablesIn(select)) tables.push(await followable(db, range));
  const description = await db.describe(text);
  const { parameterTypes, parameterForms } = description;
  const keepsParametersApart = [...visits(select)].some(({ type }) => type === 'GroupingSet');
  const served = cloneTree(select);
  const write = () => (isSame(served, select) ? text : deparseSelect(served));
  const meaning = understand(served, description);
  const facts = await readFacts(db, meaning.query);
  checkStability(meaning, facts);
  checkMoments(served, meaning, facts);
  if (keepsParametersApart) await checkTypes(db, meaning, text, parameterTypes);
  const columns = await db.columns(text);
  checkColumns(columns, key);
  const tableOf = tablesOf(served, tables);
  dropSchemas(served, meaning, tableOf);
  const renamed = write();
  if (renamed !== text) await checkMeaning(db, meaning, renamed);
  const choosesByKey = settle(served, { meaning, facts, tables, tableOf, key });
  const settled = write();
  // Settling can read more than the query does.
  const query = settled === text ? meaning.query : await checkSame(db, { columns, parameterTypes }, settled);
  const reason = whyNotMonotone(served, meaning);
  const keysMayRepeat = !choosesByKey && !identifiesRows(query, key, primaryKeysOf(tables));
  const isIncremental = reason === undefined && !choosesByKey;
  const isUnique = !choosesByKey && !keysMayRepeat;
  const plain = inlineWith(served) ?? served;
  const names = columns.map(({ name }) => name);
  const isFirst = isUnique && !makesRows(query) && isForFirstRows(plain, names);
  const dividend = { select: plain, key, isUnique, isForFirstRows: isFirst, parameterTypes };
  const divided = isIncremental && !isDivided ? undefined : await divide(db, dividend, tableOf);
  // This comes after the checks: the guard is a function of Tidemark's schema, which may not be installed yet.
  guardMoments(served, meaning, facts);
  const reads = readColumns(query);
  const inlined = inlineWith(served) ?? served;
  return {
    strategy: isIncremental ? 'incremental' : divided && divided.places.length > 0 ? 'keyed' : 'compare',
    reason,
    isMonotone: reason === undefined,
    text: write(),
    select: served,
    inlined,
    partition: divided,
    tables: tablesIn(inlined).map(tableOf),
    columns,
    reads,
    decides: decidingColumns(query, key, reads),
    parameterTypes,
    parameterForms,
    momentParameters: momentParameters(meaning, facts),
    keepsParametersApart,
    choosesByKey,
    keysMayRepeat,
    isSeparable: isSeparable(meaning.query),
  };
}

/** Finds tables by name: settling can copy parts of a query. */
function tablesOf(select: Tree, tables: readonly Table[]): TableOf {
  const nameOf = ({ schemaname, relname }: Tree) => JSON.stringify([schemaname, relname]);
  const known = new Map<string, Table>();
  for (const [i, range] of tablesIn(select).entries()) {
    const table = tables[i]!;
    known.set(nameOf(range), table);
    known.set(nameOf({ ...range, schemaname: table.schema }), table);
  }
  return (range) => known.get(nameOf(range))!;
}

/** Makes the query's result depend only on rows, whatever state of its tables it reads. */
function settle(select: Tree, settling: Settling): boolean {
  const { meaning, tableOf } = settling;
  const choosesByKey = settleDuplicates(select, settling);
  groupByColumns(select, meaning, tableOf);
  settleOrders(select, settling);
  settleAggregates(select, settling);
  settleWindows(select, settling);
  settleNotIn(select, settling);
  typeWholeRows(select, meaning, tableOf);
  addSchemas(select, tableOf);
  return choosesByKey;
}

/** A backslash means something else to Postgres where `standard_conforming_strings` is off. The text has none but in E''. */
function parseView(given: string): { readonly select: Tree; readonly text: string } {
  const parsed = parseStatement(given);
  return parsed.text.includes('\\') ? parseStatement(deparseSelect(parsed.select)) : parsed;
}

/**
 * Checks that the query means the same if the types of its parameters are written everywhere, as they are with values.
 * Until Postgres knows the type of a parameter that the query groups by, it does not recognize the parameter at other
 * places.
 */
async function checkTypes(db: Database, { query }: Meaning, text: string, types: readonly string[]): Promise<void> {
  const typed = types.map((type, i) => `$${i + 1}::${type}`);
  const { tree } = await db.describe(render(toTemplate(text), typed));
  if (isSameQuery(query, parseQueryTree(tree))) return;
  throw new SetupError(
    'it groups by a parameter whose type is not written everywhere, so Postgres treats its occurrences as different expressions. Write the type at every occurrence: $1::integer',
  );
}

/** Renaming must not change which tables are meant. */
async function checkMeaning(db: Database, { query }: Meaning, renamed: string): Promise<void> {
  const { tree } = await db.describe(renamed);
  if (!isSameQuery(query, parseQueryTree(tree))) throw unclearNames();
}

/**
 * Settling must not change the query's columns or parameters.
 * @returns the settled query as Postgres has analyzed it
 */
async function checkSame(
  db: Database,
  { columns, parameterTypes }: Pick<Analysis, 'columns' | 'parameterTypes'>,
  settled: string,
): Promise<QueryNode> {
  const { parameterTypes: types, tree } = await db.describe(settled).catch(explainOperator);
  const described = { columns: await db.columns(settled), parameterTypes: types };
  if (textOf({ columns, parameterTypes }) !== textOf(described)) throw unclearNames();
  return parseQueryTree(tree);
}

function textOf({ columns, parameterTypes }: Pick<Analysis, 'columns' | 'parameterTypes'>): string {
  return JSON.stringify([columns.map(({ name, typeOID }) => [name, typeOID]), parameterTypes]);
}

/** Settling also groups by columns that depend on a primary key, and breaks ties by the view's key. */
function explainOperator(error: unknown): never {
  if (!isWithoutOperator(error)) throw error;
  throw new SetupError(
    `it must be grouped or sorted by a column whose type Postgres cannot compare (${error.message}). Cast the column to text, as in data::text, or min(data::text)::json with GROUP BY`,
  );
}

function unclearNames(): SetupError {
  return new SetupError(
    'its names become ambiguous when Tidemark reads other states of its tables. Give every table its own alias, and qualify columns with it',
  );
}

function checkColumns(columns: readonly ResultColumn[], key: readonly string[]): void {
  const names = columns.map((column) => column.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new SetupError(`it has two columns named ${twice}. Rename one of them with AS`);
  if (names.includes('?column?')) throw new SetupError('it has a column without a name. Name it with AS');
  const missing = key.find((column) => !names.includes(column));
  if (key.length === 0) throw new SetupError('it has no key. Name one or more columns that identify a row');
  if (missing !== undefined) {
    throw new SetupError(
      `its key names the column ${missing}, which the query does not return. It returns: ${names.join(', ')}`,
    );
  }
}
