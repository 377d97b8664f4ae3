/** Compiles a view: its query in every variant that a pull needs. */
import type { ResultColumn } from '../../db/database.js';
import { digest } from '../../protocol/cookie.js';
import type { ReadColumns } from '../analysis/read-columns.js';
import type { Analysis } from '../analyze.js';
import type { ValueOptions } from '../define.js';
import { type ViewKey, viewKey } from '../keys/key-sql.js';
import { isPlainKey } from '../keys/key-text.js';
import { describeKeys, patternOf } from '../keys/patterns.js';
import { deparseSelect } from '../parse/syntax.js';
import { type Template, toTemplate } from '../parse/template.js';
import { cohortSelect } from './cohort-select.js';
import { hashedOccurrences } from './hashed.js';
import { AnalyzedQuery, CompiledCompanion, type QueryVariants } from './query-variants.js';
import type { Strategy } from './strategy.js';
import { repeatsExpressions, toValueSql, type ValueEncoding } from './value-sql.js';
import { wholeSelect } from './whole.js';

export interface CompiledView {
  readonly name: string;
  readonly strategy: Strategy;
  /** See `whyNotMonotone`. */
  readonly isMonotone: boolean;
  /** The prefix of all keys; undefined if it depends on the user. It is then the last parameter. */
  readonly prefix: string | undefined;
  readonly key: ViewKey;
  /** A digest of everything that determines the view's entries, except its parameters. */
  readonly digest: string;
  /** The SQL names of the types of the query's parameters, and of the prefix if it is one. */
  readonly parameterTypes: readonly string[];
  /** The client's keys, described for people. */
  readonly keyDescription: string;
  /** An SQL expression over a row `v` of the query: the value as JSON text. */
  readonly valueSql: string;
  /** The query of the current rows. */
  readonly now: Template;
  /** The same rows, in a form for reading all of them. */
  readonly whole: Template;
  /** The query as it reads other states of its tables. */
  readonly variants: QueryVariants;
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
  const { select, inlined, partition, tables } = analysis;
  const { prefix } = naming;
  const pattern = patternOf(naming);
  const value = toValueSql(analysis.columns, valueOptions, naming.key);
  const view = {
    name: naming.name,
    strategy: analysis.strategy,
    isMonotone: analysis.isMonotone,
    prefix,
    key: viewKey({ ...naming, pattern }, analysis, valueOptions),
    digest: digest([
      naming.name,
      prefix ?? '',
      ...naming.key,
      analysis.text,
      ...digested(naming, analysis, valueOptions),
    ]),
    parameterTypes: prefix === undefined ? [...analysis.parameterTypes, prefixType] : analysis.parameterTypes,
    keyDescription: describeKeys({ prefix: prefix ?? '…', pattern }),
    valueSql: value.sql,
    valueEncoding: value.encoding,
    repeatsExpressions: repeatsExpressions(analysis.columns, valueOptions, naming.key),
    companions: partition?.queries.map((companion) => new CompiledCompanion(companion, tables)),
    nullable: partition?.nullable ?? [],
    result: analysis.columns,
    valueOptions,
    occurrenceTables: tables.map((table) => table.oid),
    hashed: hashedOccurrences(inlined),
    reads: analysis.reads,
    decides: analysis.decides,
    choosesByKey: analysis.choosesByKey,
    keysMayRepeat: analysis.keysMayRepeat,
  };
  const now = toTemplate(analysis.text);
  const whole = wholeSelect(select, analysis.isMonotone);
  const cohortTree = analysis.isSeparable ? cohortSelect(inlined) : undefined;
  const ofCohorts = cohortTree && toTemplate(deparseSelect(cohortTree));
  return {
    ...view,
    now,
    whole: whole ? toTemplate(deparseSelect(whole)) : now,
    variants: new AnalyzedQuery(analysis, false),
    cohortView: ofCohorts && {
      ...view,
      now: ofCohorts,
      whole: ofCohorts,
      variants: new AnalyzedQuery(analysis, true),
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
