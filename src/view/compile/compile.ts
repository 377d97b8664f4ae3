/** A view ready to be pulled: its query in every form that a pull needs. */
import type { ResultColumn } from '../../db/database.js';
import { digest } from '../../protocol/cookie.js';
import type { ReadColumns } from '../analysis/read-columns.js';
import type { Analysis } from '../analyze.js';
import type { ViewShape } from '../define.js';
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
import { hashedOccurrences } from './hashed.js';
import { focusSets, rewrite, type Stand, tablesIn } from './rewrite.js';
import { seatedSelect } from './seated.js';
import type { Strategy } from './strategy.js';
import { isInUTC, repeatsExpressions, shapedValue, type ValueForm } from './value-sql.js';
import { wholeSelect } from './whole.js';

/** A query, over any state of its tables. */
export interface QueryForms {
  readonly now: Template;
  /** The same rows, for whoever reads all of them. */
  readonly whole: Template;
  /**
   * The query with its occurrences of tables reading other states; see `rewrite`.
   * @param restriction see `restrict`
   */
  standing(stands: readonly Stand[], focuses?: readonly number[], restriction?: Restriction): Template;
  /**
   * The first rows of a query that is for these, as of other states, by the rows that come first now. What it reads
   * besides is restricted to the partitions in a query `tidemark_c`. Undefined for other queries.
   */
  readonly firstRows: ((stands: readonly Stand[]) => Template) | undefined;
}

/** A companion query over any state of its tables; see `CompanionQuery`. */
export interface CompiledCompanion extends Omit<CompanionQuery, 'select' | 'occurrences'> {
  /** The OID of each table in the join. */
  readonly tables: readonly number[];
  /** @param numbered the occurrence, if any, whose rows' column `tidemark_row` is in the result too */
  standing(stands: readonly Stand[], numbered?: number): Template;
}

export interface CompiledView extends QueryForms {
  readonly name: string;
  readonly strategy: Strategy;
  /** See `whyNotMonotone`. */
  readonly isMonotone: boolean;
  /** What all keys start with; undefined if that depends on the user. It is then the last parameter. */
  readonly prefix: string | undefined;
  readonly keyColumns: readonly string[];
  /** A digest of everything that determines the view's entries, except its parameters. */
  readonly digest: string;
  /** The SQL names of the types of the query's parameters, and of the prefix if that is one. */
  readonly parameterTypes: readonly string[];
  /** The client's keys as a person reads them. */
  readonly keyForm: string;
  /**
   * An SQL expression over a row `v` of the query: the client's key.
   * @param values SQL expressions for the parameters
   */
  readonly keySql: (values: readonly string[]) => string;
  /**
   * SQL expressions for the values of the key's columns in the row with a key; undefined if no row has the key.
   * @param key without the prefix
   */
  readonly keyValues: (key: string) => readonly string[] | undefined;
  /**
   * The query of the rows whose key has the values that the parameters from a number on give for its columns, and maybe of
   * others; undefined if the query is not divided by its key.
   */
  readonly ofKey: (first: number) => Template | undefined;
  /** An SQL expression over a row `v` of the query: the value as JSON text. */
  readonly valueSql: string;
  /** Tell which partitions changes affect; undefined if any change may affect all rows. */
  readonly companions: readonly CompiledCompanion[] | undefined;
  /** Which of a partition's columns can be null; see `Partition`. */
  readonly nullable: readonly boolean[];
  /** The columns of the query's result, and what the value is made of them. */
  readonly result: readonly ResultColumn[];
  readonly shape: ViewShape;
  /** The query's rows are to be read by `rowsAsV`: see `repeatsExpressions`. */
  readonly repeatsExpressions: boolean;
  /** The columns that make up the value, which may be cheaper to read. */
  readonly valueForm: ValueForm;
  /** The OID of the table that each occurrence in the query reads. */
  readonly occurrenceTables: readonly number[];
  /** See `hashedOccurrences`. */
  readonly hashed: ReadonlySet<number>;
  /** The columns of its tables that the query reads. */
  readonly reads: ReadColumns;
  /** Those of them that decide what keys the view has, whatever their values are. */
  readonly decides: ReadColumns;
  /** Several rows of the query can share a key; the least of them, in the order of their texts, belongs to the view. */
  readonly choosesByKey: boolean;
  /** Nothing proves that each row of the query has a key of its own. Rows that share a key are one row of the view. */
  readonly keysMayRepeat: boolean;
  /**
   * The same view as several users can read it at once, with the columns of a row in place of its parameters; undefined
   * if they cannot.
   */
  readonly seated?: CompiledView | undefined;
  /** See `focusSets`. */
  focusSets(isChanged: readonly boolean[]): readonly (readonly number[])[];
}

/** What the keys of a view are made of. */
export interface ViewNaming {
  readonly name: string;
  /** Undefined if it depends on the user. */
  readonly prefix: string | undefined;
  readonly key: readonly string[];
  readonly template?: string | undefined;
}

/** The type of a prefix that is a parameter. */
export const prefixType = 'pg_catalog.text';

/** @throws SetupError if the shape does not fit the columns, or the template is none. */
export function compileView(naming: ViewNaming, analysis: Analysis, shape: ViewShape = {}): CompiledView {
  const { select, inlined, partition } = analysis;
  const { prefix } = naming;
  const pattern = patternOf(naming);
  const value = shapedValue(analysis.columns, shape, naming.key);
  const sets = new Map<string, readonly (readonly number[])[]>();
  const view = {
    name: naming.name,
    strategy: analysis.strategy,
    isMonotone: analysis.isMonotone,
    prefix,
    keyColumns: naming.key,
    digest: digest([naming.name, prefix ?? '', ...naming.key, analysis.text, ...digested(naming, analysis, shape)]),
    parameterTypes: prefix === undefined ? [...analysis.parameterTypes, prefixType] : analysis.parameterTypes,
    keyForm: describeKeys({ prefix: prefix ?? '…', pattern }),
    keySql: keySql({
      name: naming.name,
      prefix,
      prefixAt: analysis.parameterTypes.length,
      pattern,
      textOf: (column) => keyText(column, analysis.columns, shape),
    }),
    keyValues: (key: string) =>
      keyValues(pattern, key, naming.key, (column) => isInUTC(column, analysis.columns, shape)),
    ofKey: (first: number) => ofKey(naming.key, analysis, first),
    valueSql: value.sql,
    valueForm: value.form,
    repeatsExpressions: repeatsExpressions(analysis.columns, shape, naming.key),
    companions: partition?.queries.map((companion) => compiledCompanion(companion, analysis)),
    nullable: partition?.nullable ?? [],
    result: analysis.columns,
    shape,
    occurrenceTables: analysis.tables.map((table) => table.oid),
    hashed: hashedOccurrences(inlined),
    reads: analysis.reads,
    decides: analysis.decides,
    choosesByKey: analysis.choosesByKey,
    keysMayRepeat: analysis.keysMayRepeat,
    focusSets: (isChanged: readonly boolean[]) =>
      remembered(sets, isChanged.join(), () => focusSets(inlined, isChanged)),
  };
  const whole = wholeSelect(select, analysis.isMonotone);
  const seated = analysis.isSeparable ? seatedSelect(inlined) : undefined;
  return {
    ...view,
    ...formsOf(analysis, analysis.text),
    ...(whole && { whole: toTemplate(deparseSelect(whole)) }),
    seated: seated && { ...view, ...formsOf(analysis, deparseSelect(seated), (tree) => seatedSelect(tree)!) },
  };
}

/**
 * What options add to a digest, and keys that are not what a cast to text makes of their columns. Nothing if keys and
 * values are what they are without any.
 */
function digested(
  { prefix, template, key }: ViewNaming,
  { columns: all }: Analysis,
  { value, columns, nulls, timestamps }: ViewShape,
): string[] {
  const hasOwnPrefix = prefix === undefined || undefined;
  const isKeyAsSent = all.some((column) => key.includes(column.name) && !isPlainKey(column)) || undefined;
  const options = { template, hasOwnPrefix, value, columns, nulls, timestamps, isKeyAsSent };
  return Object.values(options).some((option) => option !== undefined) ? [JSON.stringify(options)] : [];
}

function formsOf({ inlined, partition, columns }: Analysis, text: string, settled = (tree: Tree) => tree): QueryForms {
  const templates = new Map<string, Template>();
  const now = toTemplate(text);
  const restricted = (stands: readonly Stand[], focuses: readonly number[], restriction: Restriction | undefined) => {
    const tree = rewrite(inlined, stands, focuses);
    if (restriction) restrict(tree, partition!.places, restriction);
    return tree;
  };
  const firstRows = (stands: readonly Stand[]) =>
    remembered(templates, `first of ${stands.join()}`, () => {
      const unaffected = restricted(
        stands.map(() => 'now'),
        [],
        'others',
      );
      const names = columns.map(({ name }) => name);
      return toTemplate(deparseSelect(settled(firstRowsBefore(unaffected, restricted(stands, [], 'all'), names))));
    });
  return {
    now,
    whole: now,
    standing: (stands, focuses = [], restriction = undefined) =>
      remembered(templates, `${stands.join()}|${focuses.join()}|${restriction}`, () =>
        toTemplate(deparseSelect(settled(restricted(stands, focuses, restriction)))),
      ),
    firstRows: partition?.isForFirstRows ? firstRows : undefined,
  };
}

function ofKey(key: readonly string[], { inlined, partition }: Analysis, first: number): Template | undefined {
  if (!partition?.keyColumns) return undefined;
  const values = partition.keyColumns.map((column) => ({ ParamRef: { number: first + key.indexOf(column) } }));
  const tree = cloneTree(inlined);
  restrictTo(tree, partition.places, values);
  return toTemplate(deparseSelect(tree));
}

function compiledCompanion(
  { select, occurrences, focuses, tellsPartition }: CompanionQuery,
  { tables }: Analysis,
): CompiledCompanion {
  const templates = new Map<string, Template>();
  return {
    tables: occurrences.map((occurrence) => tables[occurrence]!.oid),
    focuses,
    tellsPartition,
    standing: (stands, numbered) =>
      remembered(templates, `${stands.join()}|${numbered}`, () => {
        const tree = rewrite(select, stands, []);
        if (numbered !== undefined) addNumber(tree, tablesIn(select)[numbered]!);
        return toTemplate(deparseSelect(tree));
      }),
  };
}

/** @param select is changed */
function addNumber(select: Tree, { alias }: Tree): void {
  const number = columnRef((alias as { aliasname: string }).aliasname, 'tidemark_row');
  select.targetList = [...(select.targetList as Tree[]), { ResTarget: { name: 'tidemark_row', val: number } }];
}

function remembered<T>(known: Map<string, T>, id: string, make: () => T): T {
  const value = known.get(id) ?? make();
  known.set(id, value);
  return value;
}
