/** SQL for what a client is sent of a row: its value as JSON text, whole or part by part. */
import type { ResultColumn } from '../db/database.js';
import { SetupError } from '../errors.js';
import { identifier, quotedText } from '../sql.js';
import type { ViewShape } from './define.js';

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
/** Types whose JSON is their text as a string, and types whose text is their JSON. */
const strings: ReadonlySet<number> = new Set([name, text, varchar, uuid]);
const verbatim: ReadonlySet<number> = new Set([boolean, int2, int4, json, jsonb]);

/**
 * The value of a row `v`. Numbers that a JavaScript number cannot hold exactly become strings.
 * @throws SetupError if the shape names a column that there is not.
 */
export function shapedValue(columns: readonly ResultColumn[], { value }: ViewShape): ValueSql {
  if (value === undefined) return { sql: rowSql(columns), form: rowForm(columns) };
  const column = columns.find(({ name }) => name === value);
  if (!column) {
    const names = columns.map(({ name }) => name).join(', ');
    throw new SetupError(`its value names the column ${value}, which the query does not return. It returns: ${names}`);
  }
  const form = { parts: [{ before: '', ...textOf(column) }], end: '' };
  return { sql: formSql(form), form };
}

/** A form as an SQL expression. */
function formSql({ parts, end }: ValueForm): string {
  const written = parts.map(({ before, sql, isString }) => {
    const json = `coalesce(${isString ? `to_json(${sql})::text` : sql}, 'null')`;
    return before === '' ? json : `${quotedText(before)} || ${json}`;
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

function rowForm(columns: readonly ResultColumn[]): ValueForm {
  const parts = columns.map((column, i) => {
    const before = `${i === 0 ? '{' : ','}${JSON.stringify(column.name)}:`;
    return { before, ...textOf(column) };
  });
  return { parts, end: '}' };
}

/** What only Postgres can write as JSON, and what is written elsewhere. */
function textOf(column: ResultColumn): Omit<ValuePart, 'before'> {
  const sql = sqlOf(column);
  const { typeOID } = column;
  const isString = strings.has(typeOID);
  if (isString || verbatim.has(typeOID)) return { sql: `${sql}::text`, isString };
  const exact = isExact(column);
  if (!exact) return { sql: `to_json(${sql})::text`, isString };
  const whole = typeOID === int8 ? `${sql}::text` : `to_json(${sql})::text`;
  return { sql: `case when ${exact} then ${whole} else to_json(${sql}::text)::text end`, isString };
}

function sqlOf(column: ResultColumn): string {
  return `v.${identifier(column.name)}`;
}

/**
 * An SQL condition: a JavaScript number holds the column's value exactly. Undefined for types of which one always does,
 * or for which Postgres decides.
 */
function isExact(column: ResultColumn): string | undefined {
  const sql = sqlOf(column);
  if (column.typeOID === int8) return `${sql} between -9007199254740991 and 9007199254740991`;
  if (column.typeOID === numeric) return `length(ltrim(translate(trim_scale(abs(${sql}))::text, '.', ''), '0')) <= 15`;
  return undefined;
}
