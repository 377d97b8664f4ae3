/** SQL for what a client is sent of a row: its value as JSON text, whole or part by part. */
import type { ResultColumn } from '../../db/database.js';
import { SetupError } from '../../errors.js';
import { identifier, quotedText } from '../../sql.js';
import { clientNames } from '../column-names.js';
import type { ViewShape } from '../define.js';

/** How a row's value is written, from one column after the other. */
export interface ValueForm {
  readonly parts: readonly ValuePart[];
  /** What follows the last part. */
  readonly end: string;
}

/** A column of a row `v`, as text that takes less to make than its JSON. */
export interface ValuePart {
  /** What the value has before the column. */
  readonly before: string;
  /** An SQL expression of type text. */
  readonly sql: string;
  /** The JSON of the column is this text as a string; otherwise the text is the JSON. If it is null, so is the JSON. */
  readonly isString: boolean;
  /** If the column is null, the value has neither it nor what is before it. */
  readonly omitsNull?: true;
}

/** A value in both forms, which give the same bytes. */
export interface ValueSql {
  /** An SQL expression over a row `v`: the value as JSON text. */
  readonly sql: string;
  readonly form: ValueForm;
}

const [boolean, name, int8, int2, int4, text, json, varchar, numeric, uuid, jsonb] = [
  16, 19, 20, 21, 23, 25, 114, 1043, 1700, 2950, 3802,
];
const timestamptz = 1184;
/** Types whose JSON is their text as a string, and types whose text is their JSON. */
const strings: ReadonlySet<number> = new Set([name, text, varchar, uuid]);
const verbatim: ReadonlySet<number> = new Set([boolean, int2, int4, json, jsonb]);

/**
 * The value of a row `v`. Numbers that a JavaScript number cannot hold exactly become strings.
 * @param key the key columns, which are never null
 * @throws SetupError if the shape does not fit the columns.
 */
export function shapedValue(columns: readonly ResultColumn[], shape: ViewShape, key: readonly string[]): ValueSql {
  const isUTC = shape.timestamps === 'UTC';
  if (shape.value !== undefined) {
    const form = { parts: [{ before: '', ...textOf(columnNamed(columns, shape), isUTC) }], end: '' };
    return { sql: formSql(form), form };
  }
  const form = rowForm(columns, shape, key);
  const isPlain =
    shape.columns === undefined &&
    shape.nulls === undefined &&
    !(isUTC && columns.some(({ typeOID }) => typeOID === timestamptz));
  return { sql: isPlain ? rowSql(columns) : formSql(form), form };
}

/**
 * True if a column is an expression, which Postgres would evaluate once for each mention: in the value, where its
 * exactness is tested too, and in the key.
 */
export function repeatsExpressions(
  columns: readonly ResultColumn[],
  shape: ViewShape,
  key: readonly string[],
): boolean {
  return columns
    .filter(({ source }) => source === undefined)
    .some((column) => isExact(column) || isInUTC(column.name, columns, shape) || key.includes(column.name));
}

/** Whether a column is a time that is written in UTC. */
export function isInUTC(column: string, columns: readonly ResultColumn[], { timestamps }: ViewShape): boolean {
  return timestamps === 'UTC' && columns.find(({ name }) => name === column)!.typeOID === timestamptz;
}

function columnNamed(columns: readonly ResultColumn[], { value, columns: names, nulls }: ViewShape): ResultColumn {
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

/** A form as an SQL expression. */
function formSql({ parts, end }: ValueForm): string {
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

/** Where nulls are omitted, a key column comes first, so that what precedes each of the others has a comma. */
function rowForm(columns: readonly ResultColumn[], shape: ViewShape, [first]: readonly string[]): ValueForm {
  const names = clientNames(
    columns.map(({ name }) => name),
    shape.columns,
  );
  const named = columns.map((column, i) => ({ column, name: names[i]! }));
  const omitsNulls = shape.nulls === 'omit';
  const isFirst = ({ column }: { column: ResultColumn }) => column.name === first;
  const ordered = omitsNulls ? [...named.filter(isFirst), ...named.filter((one) => !isFirst(one))] : named;
  const parts = ordered.map(({ column, name }, i): ValuePart => {
    const before = `${i === 0 ? '{' : ','}${JSON.stringify(name)}:`;
    const text = textOf(column, shape.timestamps === 'UTC');
    return omitsNulls && i > 0 ? { before, ...text, omitsNull: true } : { before, ...text };
  });
  return { parts, end: '}' };
}

/** What only Postgres can write as JSON, and what is written elsewhere. */
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

/** The text of a time in UTC, with a Z where ISO 8601 has the year. */
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
 * An SQL condition: a JavaScript number holds the value of an expression exactly. Undefined for types of which one always
 * does, or for which Postgres decides. Decimals below 1e-307 can lose digits.
 */
export function exactness(sql: string, typeOID: number): string | undefined {
  if (typeOID === int8) return `${sql} between -9007199254740991 and 9007199254740991`;
  if (typeOID !== numeric) return undefined;
  const digits = `length(ltrim(translate(trim_scale(abs(${sql}))::text, '.', ''), '0'))`;
  return `${digits} <= 15 and min_scale(${sql}) <= 300`;
}
