/** SQL for the client's key of a row `v`, and for finding the row with a key. Pure. */
import { literal } from '../../db/literal.js';
import { quotedText } from '../../sql.js';
import { type KeyPattern, readKey } from './patterns.js';

/** What the SQL of a view's keys depends on. */
export interface KeyParts {
  /** The view's name. */
  readonly name: string;
  /** What all keys start with; undefined if that is a parameter. */
  readonly prefix: string | undefined;
  /** The index of that parameter. */
  readonly prefixAt: number;
  readonly pattern: KeyPattern;
  /** An SQL expression for a column of a row `v`, as text. */
  readonly textOf: (column: string) => string;
}

/**
 * An SQL expression for a row's key, given those for the parameters. The pattern tells where columns are percent-encoded,
 * so that no two rows share a key.
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
  // The prefix itself is null where a statement is only planned.
  const sql = `coalesce(${[...(texts[0] === '' ? [] : [quotedText(texts[0]!)]), ...parts].join(' || ')}, ${nullKey})`;
  return (values) => `((${values[prefixAt]}) || ${sql})`;
}

/**
 * SQL expressions for what the text of a key means, one for each of its columns. If the text means nothing to their types,
 * Postgres refuses it. Undefined if no row has such a key.
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
      // Where the text has no Z, it must not be read in the session's time zone.
      return isUTC(column) ? `${value}::timestamp at time zone 'UTC'` : value;
    })
  );
}
