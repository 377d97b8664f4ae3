/** Analyzes a view's query: finds its tables and its strategy, and refuses what cannot be served. */
import type { Table } from '../catalog/tables.js';
import type { Database, ParameterKind, ResultColumn } from '../db/database.js';
import { isWithoutOperator } from '../db/sqlstate.js';
import { SetupError } from '../errors.js';
import { checkDateTimes, dateTimeParameters, guardDateTimes } from './analysis/date-times.js';
import { decidingColumns } from './analysis/deciding-columns.js';
import { primaryKeysOf } from './analysis/exactness.js';
import { readFacts } from './analysis/facts.js';
import { followable } from './analysis/followable.js';
import { type Meaning, understand } from './analysis/meaning.js';
import { isSameQuery, parseQueryTree, type QueryNode } from './analysis/query-tree.js';
import { type ReadColumns, readColumns } from './analysis/read-columns.js';
import { isSeparable } from './analysis/separable.js';
import { checkStability } from './analysis/stability.js';
import { identifiesRows } from './analysis/unique-keys/unique-keys.js';
import { tablesIn } from './compile/rewrite.js';
import { type Strategy, whyNotMonotone } from './compile/strategy.js';
import { makeDeterministic } from './determinism/make-deterministic.js';
import { makesRows } from './determinism/order.js';
import { dropSchemas, namedTablesOf, tableOf } from './determinism/qualify.js';
import { inspect } from './inspect.js';
import { queryOfOne } from './instances/instances.js';
import { type ParameterUses, parameterUses } from './instances/parameter-uses.js';
import { deparseSelect, isSame, parserLoaded, parseStatement } from './parse/syntax.js';
import { render, toTemplate } from './parse/template.js';
import { cloneTree, type Tree, visits } from './parse/tree.js';
import { divide } from './partition/divide.js';
import { isForFirstRows } from './partition/first-rows.js';
import { inlineWith } from './partition/inline-with.js';
import type { Partition } from './partition/partition.js';

/** The result of analyzing a view's query. */
export interface Analysis {
  readonly strategy: Strategy;
  /** Why the strategy is not `incremental`. */
  readonly reason: string | undefined;
  /** See `whyNotMonotone`. */
  readonly isMonotone: boolean;
  /** The query as Tidemark serves it. Its result is a function of its tables' rows. */
  readonly text: string;
  readonly select: Tree;
  /** The query whose tables can be replaced by other states. It has no WITH, unless the WITH cannot be inlined. */
  readonly inlined: Tree;
  /** The view's partitions; undefined for most `incremental` views, and if it is unknown what changes affect. */
  readonly partition: Partition | undefined;
  /** The table of each occurrence in `inlined`, in the order of `tablesIn`. */
  readonly tables: readonly Table[];
  readonly columns: readonly ResultColumn[];
  /** The columns of its tables that the query reads. */
  readonly reads: ReadColumns;
  /** The subset of `reads` that decides which keys the view has. */
  readonly decides: ReadColumns;
  /** The SQL names of the parameters' types. */
  readonly parameterTypes: readonly string[];
  readonly parameterKinds: readonly ParameterKind[];
  /** The uses of the parameters, as the query was written. */
  readonly parameterUses: ParameterUses;
  /** The numbers of the parameters that Postgres reads as dates or times. */
  readonly dateTimeParameters: ReadonlySet<number>;
  /** Equal parameter values must not become equal expressions, because GROUPING SETS would confuse them. */
  readonly keepsParametersApart: boolean;
  /** Several rows of the query can share a key. One of them belongs to the view. */
  readonly choosesByKey: boolean;
  /** Nothing proves that each row of the query has its own key; see `identifiesRows`. */
  readonly keysMayRepeat: boolean;
  /** See `isSeparable`. */
  readonly isSeparable: boolean;
}

/**
 * Analyzes a query with the database's catalogs.
 * @param key the columns of the result that identify a row
 * @param withCompanions also find an incremental view's companion queries, which pulls do not need
 * @throws SetupError if no correct view can have this query; the message says why and what to do.
 */
export async function analyze(
  db: Database,
  queryText: string,
  key: readonly string[],
  withCompanions = false,
): Promise<Analysis> {
  await parserLoaded;
  const { select, text } = parseView(queryText);
  inspect(select);
  const tables: Table[] = [];
  for (const range of tablesIn(select)) tables.push(await followable(db, range));
  const description = await db.describe(text);
  const { parameterTypes, parameterKinds } = description;
  const keepsParametersApart = [...visits(select)].some(({ type }) => type === 'GroupingSet');
  const servedTree = cloneTree(select);
  const write = () => (isSame(servedTree, select) ? text : deparseSelect(servedTree));
  const meaning = understand(servedTree, description);
  const facts = await readFacts(db, meaning.query);
  checkStability(meaning, facts);
  checkDateTimes(servedTree, meaning, facts);
  if (keepsParametersApart) await checkTypes(db, meaning, text, parameterTypes);
  const columns = await db.columns(text);
  checkColumns(columns, key);
  const namedTables = namedTablesOf(servedTree, tables);
  dropSchemas(servedTree, meaning, namedTables);
  const renamed = write();
  if (renamed !== text) await checkMeaning(db, meaning, renamed);
  const rowQuery = queryOfOne(servedTree) ?? servedTree;
  const choosesByKey = makeDeterministic(servedTree, { meaning, facts, tables, namedTables, key, rowQuery });
  const rewrittenText = write();
  // The deterministic query can read more columns than the original.
  const query =
    rewrittenText === text ? meaning.query : await checkSame(db, { columns, parameterTypes }, rewrittenText);
  const reason = whyNotMonotone(servedTree, meaning);
  const keysMayRepeat = !choosesByKey && !identifiesRows(query, key, primaryKeysOf(tables));
  const isIncremental = reason === undefined && !choosesByKey;
  const isUnique = !choosesByKey && !keysMayRepeat;
  const plain = inlineWith(servedTree) ?? servedTree;
  const names = columns.map(({ name }) => name);
  const isFirst = isUnique && !makesRows(query) && isForFirstRows(plain, names);
  const divideInput = { select: plain, key, isUnique, isForFirstRows: isFirst, parameterTypes };
  const partition = isIncremental && !withCompanions ? undefined : await divide(db, divideInput, namedTables);
  // The guard calls a function of Tidemark's schema, which may not be installed yet, so the checks must run first.
  guardDateTimes(servedTree, meaning, facts);
  const reads = readColumns(query);
  const inlined = inlineWith(servedTree) ?? servedTree;
  return {
    strategy: isIncremental ? 'incremental' : partition && partition.restrictionPoints.length > 0 ? 'keyed' : 'compare',
    reason,
    isMonotone: reason === undefined,
    text: write(),
    select: servedTree,
    inlined,
    partition,
    tables: tablesIn(inlined).map((range) => tableOf(range, namedTables)),
    columns,
    reads,
    decides: decidingColumns(query, key, reads),
    parameterTypes,
    parameterKinds,
    parameterUses: parameterUses(meaning.query, facts),
    dateTimeParameters: dateTimeParameters(meaning, facts),
    keepsParametersApart,
    choosesByKey,
    keysMayRepeat,
    isSeparable: isSeparable(meaning.query),
  };
}

/** Parses a view's query. Backslashes in the text are only in E'', so `standard_conforming_strings` does not matter. */
function parseView(queryText: string): { readonly select: Tree; readonly text: string } {
  const parsed = parseStatement(queryText);
  return parsed.text.includes('\\') ? parseStatement(deparseSelect(parsed.select)) : parsed;
}

/**
 * Checks that the query keeps its meaning when every parameter has an explicit type, as in statements with values. If a
 * query groups by a parameter whose type Postgres does not know yet, Postgres fails to recognize the parameter's other
 * occurrences.
 */
async function checkTypes(db: Database, { query }: Meaning, text: string, types: readonly string[]): Promise<void> {
  const typed = types.map((type, i) => `$${i + 1}::${type}`);
  const { tree } = await db.describe(render(toTemplate(text), typed));
  if (isSameQuery(query, parseQueryTree(tree))) return;
  throw new SetupError(
    'it groups by a parameter whose type is not written everywhere, so Postgres treats its occurrences as different expressions. Write the type at every occurrence: $1::integer',
  );
}

/** Checks that renaming has not changed which tables the query reads. */
async function checkMeaning(db: Database, { query }: Meaning, renamed: string): Promise<void> {
  const { tree } = await db.describe(renamed);
  if (!isSameQuery(query, parseQueryTree(tree))) throw unclearNames();
}

/**
 * Checks that making the query deterministic has not changed its columns or parameters.
 * @returns the rewritten query as Postgres has analyzed it
 */
async function checkSame(
  db: Database,
  { columns, parameterTypes }: Pick<Analysis, 'columns' | 'parameterTypes'>,
  rewrittenText: string,
): Promise<QueryNode> {
  const { parameterTypes: types, tree } = await db.describe(rewrittenText).catch(explainOperator);
  const described = { columns: await db.columns(rewrittenText), parameterTypes: types };
  if (textOf({ columns, parameterTypes }) !== textOf(described)) throw unclearNames();
  return parseQueryTree(tree);
}

function textOf({ columns, parameterTypes }: Pick<Analysis, 'columns' | 'parameterTypes'>): string {
  return JSON.stringify([columns.map(({ name, typeOID }) => [name, typeOID]), parameterTypes]);
}

/** The rewritten query also groups by columns that depend on a primary key, and breaks ties by the view's key. */
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
