/** SQL for the value that a client receives for a row: JSON text, whole or in parts. */
import type { ResultColumn } from '../../db/database.js';
import { SetupError } from '../../errors.js';
import { identifier, quotedText } from '../../sql.js';
import { clientNames } from '../columns/column-names.js';
import type { ValueOptions } from '../define.js';

/** A row's value, written one column after another. */
export interface ValueEncoding {
  readonly parts: readonly ValuePart[];
  /** The text after the last part. */
  readonly end: string;
}

/** A column of a row `v`, as text that is cheaper to produce than its JSON. */
export interface ValuePart {
  /** The value's text before the column. */
  readonly before: string;
  /** An SQL expression of type text. */
  readonly sql: string;
  /** True if the column's JSON is this text as a string; false if it is the text itself. Null becomes JSON null. */
  readonly isString: boolean;
  /** If the column is null, the value contains neither it nor the text before it. */
  readonly omitsNull?: true;
}

/** A value as one expression and in parts. Both give the same bytes. */
export interface ValueSql {
  /** An SQL expression over a row `v`: the value as JSON text. */
  readonly sql: string;
  readonly encoding: ValueEncoding;
}

const [boolean, name, int8, int2, int4, text, json, varchar, numeric, uuid, jsonb] = [
  16, 19, 20, 21, 23, 25, 114, 1043, 1700, 2950, 3802,
];
const timestamptz = 1184;
/** Types whose JSON is their text as a string, and types whose text is their JSON. */
const strings: ReadonlySet<number> = new Set([name, text, varchar, uuid]);
const verbatim: ReadonlySet<number> = new Set([boolean, int2, int4, json, jsonb]);

/**
 * Returns the value of a row `v`. Numbers that a JavaScript number cannot hold exactly become strings.
 * @param key the key columns, which are never null
 * @throws SetupError if the options do not fit the columns.
 */
export function toValueSql(
  columns: readonly ResultColumn[],
  valueOptions: ValueOptions,
  key: readonly string[],
): ValueSql {
  const isUTC = valueOptions.timestamps === 'UTC';
  if (valueOptions.value !== undefined) {
    const encoding = { parts: [{ before: '', ...textOf(columnNamed(columns, valueOptions), isUTC) }], end: '' };
    return { sql: encodingSql(encoding), encoding };
  }
  const encoding = rowEncoding(columns, valueOptions, key);
  const isPlain =
    valueOptions.columns === undefined &&
    valueOptions.nulls === undefined &&
    !(isUTC && columns.some(({ typeOID }) => typeOID === timestamptz));
  return { sql: isPlain ? rowSql(columns) : encodingSql(encoding), encoding };
}

/**
 * True if a column is an expression that Postgres would evaluate once for each mention: in the value, which also tests
 * whether it is exact, and in the key.
 */
export function repeatsExpressions(
  columns: readonly ResultColumn[],
  valueOptions: ValueOptions,
  key: readonly string[],
): boolean {
  return columns
    .filter(({ origin }) => origin === undefined)
    .some((column) => isExact(column) || isInUTC(column.name, columns, valueOptions) || key.includes(column.name));
}

/** Checks whether a column is a time that is written in UTC. */
export function isInUTC(column: string, columns: readonly ResultColumn[], { timestamps }: ValueOptions): boolean {
  return timestamps === 'UTC' && columns.find(({ name }) => name === column)!.typeOID === timestamptz;
}

function columnNamed(columns: readonly ResultColumn[], { value, columns: names, nulls }: ValueOptions): ResultColumn {
  if (names !== undefined || nulls !== undefined) {
    throw new SetupError(
      'its value is one column, so there are no columns to rename and no nulls to omit. Remove columns and nulls, or value',
    );
  }
  const column = columns.find(({ name }) => name === value);
  if (column) return column;
  const returned = columns.map(({ name }) => name).join(', ');
  throw new SetupError(`its value names the column ${value}, which the query does not return. It returns: ${returned}`);
}

/** Returns an encoding as an SQL expression. */
function encodingSql({ parts, end }: ValueEncoding): string {
  const written = parts.map(({ before, sql, isString, omitsNull }) => {
    const json = isString ? `to_json(${sql})::text` : sql;
    const part = before === '' ? json : `${quotedText(before)} || ${json}`;
    return `coalesce(${part}, ${quotedText(omitsNull ? '' : `${before}null`)})`;
  });
  return [...written, ...(end === '' ? [] : [quotedText(end)])].join(' || ');
}

function rowSql(columns: readonly ResultColumn[]): string {
  if (!columns.some((column) => isExact(column))) return 'row_to_json(v.*)::text';
  const values = columns.map((column) => {
    const [sql, exact] = [sqlOf(column), isExact(column)];
    const value = exact
      ? `case when ${sql} is null then null when ${exact} then to_json(${sql}) else to_json(${sql}::text) end`
      : sql;
    return `${value} as ${identifier(column.name)}`;
  });
  return `(select row_to_json(j.*)::text from (select ${values.join(', ')}) j)`;
}

/** Encodes a whole row. If nulls are omitted, a key column comes first, so that a comma precedes every other column. */
function rowEncoding(
  columns: readonly ResultColumn[],
  valueOptions: ValueOptions,
  [first]: readonly string[],
): ValueEncoding {
  const names = clientNames(
    columns.map(({ name }) => name),
    valueOptions.columns,
  );
  const named = columns.map((column, i) => ({ column, name: names[i]! }));
  const omitsNulls = valueOptions.nulls === 'omit';
  const isFirst = ({ column }: { column: ResultColumn }) => column.name === first;
  const ordered = omitsNulls ? [...named.filter(isFirst), ...named.filter((one) => !isFirst(one))] : named;
  const parts = ordered.map(({ column, name }, i): ValuePart => {
    const before = `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    const text = textOf(column, valueOptions.timestamps === 'UTC');
    return omitsNulls && i > 0 ? { before, ...text, omitsNull: true } : { before, ...text };
  });
  return { parts, end: '}' };
}

/** Returns a column's JSON if only Postgres can write it, and otherwise the text from which the server can. */
function textOf(column: ResultColumn, isUTC: boolean): Pick<ValuePart, 'sql' | 'isString'> {
  const sql = sqlOf(column);
  const { typeOID } = column;
  if (isUTC && typeOID === timestamptz) return { sql: utcText(sql), isString: true };
  const isString = strings.has(typeOID);
  if (isString || verbatim.has(typeOID)) return { sql: `${sql}::text`, isString };
  const exact = isExact(column);
  if (!exact) return { sql: `to_json(${sql})::text`, isString };
  const whole = typeOID === int8 ? `${sql}::text` : `to_json(${sql})::text`;
  return { sql: `case when ${exact} then ${whole} else to_json(${sql}::text)::text end`, isString };
}

/** Returns the text of a time in UTC, with a Z if ISO 8601 has the year. */
export function utcText(sql: string): string {
  const isInISO = `${sql} between timestamptz '0001-01-01 00:00:00+00' and timestamptz '9999-12-31 23:59:59.999999+00'`;
  return `(to_json(${sql} at time zone 'UTC') #>> '{}') || case when ${isInISO} then 'Z' else '' end`;
}

function sqlOf(column: ResultColumn): string {
  return `v.${identifier(column.name)}`;
}

function isExact(column: ResultColumn): string | undefined {
  return exactness(sqlOf(column), column.typeOID);
}

/**
 * Returns the SQL condition that a JavaScript number holds an expression's value exactly; undefined for types whose
 * values always fit, or whose JSON is left to Postgres. Decimals below 1e-307 can lose digits.
 */
export function exactness(sql: string, typeOID: number): string | undefined {
  if (typeOID === int8) return `${sql} between -9007199254740991 and 9007199254740991`;
  if (typeOID !== numeric) return undefined;
  const digits = `length(ltrim(translate(trim_scale(abs(${sql}))::text, '.', ''), '0'))`;
  return `${digits} <= 15 and min_scale(${sql}) <= 300`;
}
