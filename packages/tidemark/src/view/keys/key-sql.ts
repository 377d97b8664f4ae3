/** SQL for the client's key of a row `v`, and for finding a row by its key. Pure. */
import { literal } from '../../db/literal.js';
import { quotedText } from '../../sql.js';
import type { Analysis } from '../analyze.js';
import { isInUTC } from '../compile/value-sql.js';
import type { ValueOptions } from '../define.js';
import { keyText } from './key-text.js';
import { type KeyPattern, readKey } from './patterns.js';

/** A view's key: its columns, and the SQL that makes the client's key of them. */
export interface ViewKey {
  readonly columns: readonly string[];
  readonly pattern: KeyPattern;
  /** The columns that are times, written in UTC. */
  readonly utcColumns: ReadonlySet<string>;
  /** An SQL expression over a row `v` of the query: the client's key, without a prefix that is a parameter. */
  readonly sql: string;
  /** The index of the parameter that is the prefix of all keys; undefined if the prefix is a constant. */
  readonly prefixAt: number | undefined;
}

/** The view's name, its key columns with their pattern, and the prefix of all keys; undefined if it is a parameter. */
export interface KeyNaming {
  readonly name: string;
  readonly prefix: string | undefined;
  readonly key: readonly string[];
  readonly pattern: KeyPattern;
}

/** Returns a view's key. The pattern says which columns are percent-encoded, so that no two rows share a key. */
export function viewKey(
  { name, prefix, key, pattern }: KeyNaming,
  { columns, parameterTypes }: Pick<Analysis, 'columns' | 'parameterTypes'>,
  valueOptions: ValueOptions,
): ViewKey {
  const { texts, isRaw } = pattern;
  const parts = pattern.columns.flatMap((column, i) => {
    const text = `${keyText(column, columns, valueOptions)} collate "C"`;
    const part = isRaw ? text : `replace(replace(${text}, '%', '%25'), '/', '%2F')`;
    return texts[i + 1] === '' ? [part] : [part, quotedText(texts[i + 1]!)];
  });
  const start = `${prefix ?? ''}${texts[0]}`;
  const first = prefix === undefined && start === '' ? [] : [quotedText(start)];
  return {
    columns: key,
    pattern,
    utcColumns: new Set(key.filter((column) => isInUTC(column, columns, valueOptions))),
    // In statements that are only planned, the prefix parameter is null.
    sql: `coalesce(${[...first, ...parts].join(' || ')}, tidemark.null_key(${quotedText(name)}))`,
    prefixAt: prefix === undefined ? parameterTypes.length : undefined,
  };
}

/**
 * Returns an SQL expression over a row `v` of the query: the client's key.
 * @param values SQL expressions for the parameters
 */
export function keySql({ sql, prefixAt }: ViewKey, values: readonly string[]): string {
  return prefixAt === undefined ? sql : `((${values[prefixAt]}) || ${sql})`;
}

/**
 * Returns SQL expressions for the values of the key's columns in the row with a key; undefined if no row can have the
 * key. Postgres refuses texts that are invalid for the columns' types.
 * @param key without the view's prefix
 */
export function keyValues(
  { columns, pattern, utcColumns }: Pick<ViewKey, 'columns' | 'pattern' | 'utcColumns'>,
  key: string,
): string[] | undefined {
  const texts = readKey(pattern, key);
  return (
    texts &&
    columns.map((column) => {
      const value = literal(texts[pattern.columns.indexOf(column)]!);
      // A text without a Z must not be read in the session's time zone.
      return utcColumns.has(column) ? `${value}::timestamp at time zone 'UTC'` : value;
    })
  );
}
