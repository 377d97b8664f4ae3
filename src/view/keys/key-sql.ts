/** SQL for the client's key of a row `v`, and for finding a row by its key. Pure. */
import { literal } from '../../db/literal.js';
import { quotedText } from '../../sql.js';
import { type KeyPattern, readKey } from './patterns.js';

/** The inputs of a view's key SQL. */
export interface KeyParts {
  /** The view's name. */
  readonly name: string;
  /** The prefix of all keys; undefined if it is a parameter. */
  readonly prefix: string | undefined;
  /** The index of that parameter. */
  readonly prefixAt: number;
  readonly pattern: KeyPattern;
  /** An SQL expression for a column of a row `v`, as text. */
  readonly textOf: (column: string) => string;
}

/**
 * Returns an SQL expression for a row's key, as a function of the expressions for the parameters. The pattern says
 * which columns are percent-encoded, so that no two rows share a key.
 */
export function keySql({ name, prefix, prefixAt, pattern, textOf }: KeyParts): (values: readonly string[]) => string {
  const { texts, columns, isRaw } = pattern;
  const parts = columns.flatMap((column, i) => {
    const text = `${textOf(column)} collate "C"`;
    const part = isRaw ? text : `replace(replace(${text}, '%', '%25'), '/', '%2F')`;
    return texts[i + 1] === '' ? [part] : [part, quotedText(texts[i + 1]!)];
  });
  const nullKey = `tidemark.null_key(${quotedText(name)})`;
  if (prefix !== undefined) {
    const sql = `coalesce(${[quotedText(`${prefix}${texts[0]}`), ...parts].join(' || ')}, ${nullKey})`;
    return () => sql;
  }
  // In statements that are only planned, the prefix parameter is null.
  const sql = `coalesce(${[...(texts[0] === '' ? [] : [quotedText(texts[0]!)]), ...parts].join(' || ')}, ${nullKey})`;
  return (values) => `((${values[prefixAt]}) || ${sql})`;
}

/**
 * Returns SQL expressions for the values in a key's text, one for each of its columns; undefined if no row can have the
 * key. Postgres refuses texts that are invalid for the columns' types.
 * @param key without the view's prefix
 * @param isUTC whether a column is a time that is written in UTC
 */
export function keyValues(
  pattern: KeyPattern,
  key: string,
  columns: readonly string[],
  isUTC: (column: string) => boolean,
): string[] | undefined {
  const texts = readKey(pattern, key);
  return (
    texts &&
    columns.map((column) => {
      const value = literal(texts[pattern.columns.indexOf(column)]!);
      // A text without a Z must not be read in the session's time zone.
      return isUTC(column) ? `${value}::timestamp at time zone 'UTC'` : value;
    })
  );
}
