/** Compiles a view: its query in every variant that a pull needs. */
import type { ResultColumn } from '../../db/database.js';
import { digest } from '../../protocol/cookie.js';
import type { ReadColumns } from '../analysis/read-columns.js';
import type { Analysis } from '../analyze.js';
import type { ValueOptions } from '../define.js';
import { keySql, keyValues } from '../keys/key-sql.js';
import { isPlainKey, keyText } from '../keys/key-text.js';
import { describeKeys, patternOf } from '../keys/patterns.js';
import { columnRef } from '../parse/nodes.js';
import { deparseSelect } from '../parse/syntax.js';
import { type Template, toTemplate } from '../parse/template.js';
import { cloneTree, type Tree } from '../parse/tree.js';
import { firstRowsBefore } from '../partition/first-rows.js';
import type { CompanionQuery } from '../partition/partition.js';
import { type Restriction, restrict, restrictTo } from '../partition/restrict.js';
import { cohortSelect } from './cohort-select.js';
import { hashedOccurrences } from './hashed.js';
import { focusSets, rewrite, type TableState, tablesIn } from './rewrite.js';
import type { Strategy } from './strategy.js';
import { isInUTC, repeatsExpressions, toValueSql, type ValueEncoding } from './value-sql.js';
import { wholeSelect } from './whole.js';

/** A query that can read any state of its tables. */
export interface QueryVariants {
  readonly now: Template;
  /** The same rows, in a form for reading all of them. */
  readonly whole: Template;
  /**
   * Returns the query with its occurrences of tables reading other states; see `rewrite`.
   * @param restriction see `restrict`
   */
  atStates(tableStates: readonly TableState[], focuses?: readonly number[], restriction?: Restriction): Template;
  /**
   * Returns the first rows as of other states, if the query has ORDER BY and LIMIT. It reads the current first rows,
   * and rows of the partitions in a query `tidemark_c`. Undefined for other queries.
   */
  readonly firstRows: ((tableStates: readonly TableState[]) => Template) | undefined;
}

/** A companion query that can read any state of its tables; see `CompanionQuery`. */
export interface CompiledCompanion extends Omit<CompanionQuery, 'select' | 'occurrences'> {
  /** The OID of each table in the join. */
  readonly tables: readonly number[];
  /** @param numbered the occurrence, if any, whose column `tidemark_row` is added to the result */
  atStates(tableStates: readonly TableState[], numbered?: number): Template;
}

export interface CompiledView extends QueryVariants {
  readonly name: string;
  readonly strategy: Strategy;
  /** See `whyNotMonotone`. */
  readonly isMonotone: boolean;
  /** The prefix of all keys; undefined if it depends on the user. It is then the last parameter. */
  readonly prefix: string | undefined;
  readonly keyColumns: readonly string[];
  /** A digest of everything that determines the view's entries, except its parameters. */
  readonly digest: string;
  /** The SQL names of the types of the query's parameters, and of the prefix if it is one. */
  readonly parameterTypes: readonly string[];
  /** The client's keys, described for people. */
  readonly keyDescription: string;
  /**
   * An SQL expression over a row `v` of the query: the client's key.
   * @param values SQL expressions for the parameters
   */
  readonly keySql: (values: readonly string[]) => string;
  /**
   * Returns SQL expressions for the values of the key's columns in the row with a key; undefined if no row has the key.
   * @param key without the prefix
   */
  readonly keyValues: (key: string) => readonly string[] | undefined;
  /**
   * Returns the query of the rows whose key columns have the values of the parameters from `first` on. It can return
   * other rows, too. Undefined if the view's key does not divide the query.
   */
  readonly ofKey: (first: number) => Template | undefined;
  /** An SQL expression over a row `v` of the query: the value as JSON text. */
  readonly valueSql: string;
  /** The queries that find the partitions that changes affect; undefined if any change may affect all rows. */
  readonly companions: readonly CompiledCompanion[] | undefined;
  /** For each of a partition's columns, true if it can be null; see `Partition`. */
  readonly nullable: readonly boolean[];
  /** The columns of the query's result, and the options that make the value from them. */
  readonly result: readonly ResultColumn[];
  readonly valueOptions: ValueOptions;
  /** True if the query's rows must be read through `rowsAsV`; see `repeatsExpressions`. */
  readonly repeatsExpressions: boolean;
  /** The value as separate columns, which may be cheaper to read. */
  readonly valueEncoding: ValueEncoding;
  /** The OID of the table that each occurrence in the query reads. */
  readonly occurrenceTables: readonly number[];
  /** See `hashedOccurrences`. */
  readonly hashed: ReadonlySet<number>;
  /** The columns of its tables that the query reads. */
  readonly reads: ReadColumns;
  /** The subset of `reads` that decides which keys the view has. */
  readonly decides: ReadColumns;
  /** Several rows of the query can share a key. The first of them in the order of their texts belongs to the view. */
  readonly choosesByKey: boolean;
  /** Nothing proves that each row of the query has its own key. Rows that share a key are one row of the view. */
  readonly keysMayRepeat: boolean;
  /**
   * The view for several users at once, with the columns of a row instead of its parameters; undefined if the query
   * cannot be rewritten so.
   */
  readonly cohortView?: CompiledView | undefined;
  /** See `focusSets`. */
  focusSets(isChanged: readonly boolean[]): readonly (readonly number[])[];
}

/** The name, prefix and key of a view, which determine its clients' keys. */
export interface ViewNaming {
  readonly name: string;
  /** Undefined if it depends on the user. */
  readonly prefix: string | undefined;
  readonly key: readonly string[];
  readonly template?: string | undefined;
}

/** The type of a prefix that is a parameter. */
export const prefixType = 'pg_catalog.text';

/** @throws SetupError if the options do not fit the columns, or the template is invalid. */
export function compileView(naming: ViewNaming, analysis: Analysis, valueOptions: ValueOptions = {}): CompiledView {
  const { select, inlined, partition } = analysis;
  const { prefix } = naming;
  const pattern = patternOf(naming);
  const value = toValueSql(analysis.columns, valueOptions, naming.key);
  const sets = new Map<string, readonly (readonly number[])[]>();
  const view = {
    name: naming.name,
    strategy: analysis.strategy,
    isMonotone: analysis.isMonotone,
    prefix,
    keyColumns: naming.key,
    digest: digest([
      naming.name,
      prefix ?? '',
      ...naming.key,
      analysis.text,
      ...digested(naming, analysis, valueOptions),
    ]),
    parameterTypes: prefix === undefined ? [...analysis.parameterTypes, prefixType] : analysis.parameterTypes,
    keyDescription: describeKeys({ prefix: prefix ?? '…', pattern }),
    keySql: keySql({
      name: naming.name,
      prefix,
      prefixAt: analysis.parameterTypes.length,
      pattern,
      textOf: (column) => keyText(column, analysis.columns, valueOptions),
    }),
    keyValues: (key: string) =>
      keyValues(pattern, key, naming.key, (column) => isInUTC(column, analysis.columns, valueOptions)),
    ofKey: (first: number) => ofKey(naming.key, analysis, first),
    valueSql: value.sql,
    valueEncoding: value.encoding,
    repeatsExpressions: repeatsExpressions(analysis.columns, valueOptions, naming.key),
    companions: partition?.queries.map((companion) => compiledCompanion(companion, analysis)),
    nullable: partition?.nullable ?? [],
    result: analysis.columns,
    valueOptions,
    occurrenceTables: analysis.tables.map((table) => table.oid),
    hashed: hashedOccurrences(inlined),
    reads: analysis.reads,
    decides: analysis.decides,
    choosesByKey: analysis.choosesByKey,
    keysMayRepeat: analysis.keysMayRepeat,
    focusSets: (isChanged: readonly boolean[]) => memoize(sets, isChanged.join(), () => focusSets(inlined, isChanged)),
  };
  const whole = wholeSelect(select, analysis.isMonotone);
  const cohortTree = analysis.isSeparable ? cohortSelect(inlined) : undefined;
  return {
    ...view,
    ...variantsOf(analysis, analysis.text),
    ...(whole && { whole: toTemplate(deparseSelect(whole)) }),
    cohortView: cohortTree && {
      ...view,
      ...variantsOf(analysis, deparseSelect(cohortTree), (tree) => cohortSelect(tree)!),
    },
  };
}

/**
 * Returns what options add to a digest, and whether keys differ from their columns' casts to text. Empty if keys and
 * values have the default format.
 */
function digested(
  { prefix, template, key }: ViewNaming,
  { columns: all }: Analysis,
  { value, columns, nulls, timestamps }: ValueOptions,
): string[] {
  const hasOwnPrefix = prefix === undefined || undefined;
  const isKeyAsSent = all.some((column) => key.includes(column.name) && !isPlainKey(column)) || undefined;
  const options = { template, hasOwnPrefix, value, columns, nulls, timestamps, isKeyAsSent };
  return Object.values(options).some((option) => option !== undefined) ? [JSON.stringify(options)] : [];
}

function variantsOf(
  { inlined, partition, columns }: Analysis,
  text: string,
  transform = (tree: Tree) => tree,
): QueryVariants {
  const templates = new Map<string, Template>();
  const now = toTemplate(text);
  const restricted = (
    tableStates: readonly TableState[],
    focuses: readonly number[],
    restriction: Restriction | undefined,
  ) => {
    const tree = rewrite(inlined, tableStates, focuses);
    if (restriction) restrict(tree, partition!.restrictionPoints, restriction);
    return tree;
  };
  const firstRows = (tableStates: readonly TableState[]) =>
    memoize(templates, `first of ${tableStates.join()}`, () => {
      const unaffected = restricted(
        tableStates.map(() => 'now'),
        [],
        'others',
      );
      const names = columns.map(({ name }) => name);
      return toTemplate(
        deparseSelect(transform(firstRowsBefore(unaffected, restricted(tableStates, [], 'all'), names))),
      );
    });
  return {
    now,
    whole: now,
    atStates: (tableStates, focuses = [], restriction = undefined) =>
      memoize(templates, `${tableStates.join()}|${focuses.join()}|${restriction}`, () =>
        toTemplate(deparseSelect(transform(restricted(tableStates, focuses, restriction)))),
      ),
    firstRows: partition?.isForFirstRows ? firstRows : undefined,
  };
}

function ofKey(key: readonly string[], { inlined, partition }: Analysis, first: number): Template | undefined {
  if (!partition?.keyColumns) return undefined;
  const values = partition.keyColumns.map((column) => ({ ParamRef: { number: first + key.indexOf(column) } }));
  const tree = cloneTree(inlined);
  restrictTo(tree, partition.restrictionPoints, values);
  return toTemplate(deparseSelect(tree));
}

function compiledCompanion(
  { select, occurrences, focuses, identifiesPartition }: CompanionQuery,
  { tables }: Analysis,
): CompiledCompanion {
  const templates = new Map<string, Template>();
  return {
    tables: occurrences.map((occurrence) => tables[occurrence]!.oid),
    focuses,
    identifiesPartition,
    atStates: (tableStates, numbered) =>
      memoize(templates, `${tableStates.join()}|${numbered}`, () => {
        const tree = rewrite(select, tableStates, []);
        if (numbered !== undefined) addNumber(tree, tablesIn(select)[numbered]!);
        return toTemplate(deparseSelect(tree));
      }),
  };
}

/** @param select is modified in place */
function addNumber(select: Tree, { alias }: Tree): void {
  const number = columnRef((alias as { aliasname: string }).aliasname, 'tidemark_row');
  select.targetList = [...(select.targetList as Tree[]), { ResTarget: { name: 'tidemark_row', val: number } }];
}

function memoize<T>(cache: Map<string, T>, id: string, make: () => T): T {
  const value = cache.get(id) ?? make();
  cache.set(id, value);
  return value;
}
