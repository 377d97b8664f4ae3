/** SQL for a row's value as JSON text: whole, or column by column. */
import type { ResultColumn } from '../db/database.js';
import { identifier } from '../sql.js';

/** A column of a row `v`, as text that takes less to make than its JSON. */
export interface TextColumn {
  readonly name: string;
  /** An SQL expression of type text. */
  readonly sql: string;
  /** The JSON of the column is this text as a string; otherwise the text is the JSON. */
  readonly isString: boolean;
}

const [boolean, name, int8, int2, int4, text, json, varchar, numeric, uuid, jsonb] = [
  16, 19, 20, 21, 23, 25, 114, 1043, 1700, 2950, 3802,
];
/** Types whose JSON is their text as a string, and types whose text is their JSON. */
const strings: ReadonlySet<number> = new Set([name, text, varchar, uuid]);
const verbatim: ReadonlySet<number> = new Set([boolean, int2, int4, json, jsonb]);

/** A row `v` as JSON text. Numbers that a JavaScript number cannot hold exactly become strings. */
export function valueSql(columns: readonly ResultColumn[]): string {
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

/** The columns that make up the same value: what only Postgres can write as JSON, and what is written elsewhere. */
export function textColumns(columns: readonly ResultColumn[]): TextColumn[] {
  return columns.map((column) => {
    const sql = sqlOf(column);
    const { name, typeOID } = column;
    const isString = strings.has(typeOID);
    if (isString || verbatim.has(typeOID)) return { name, sql: `${sql}::text`, isString };
    const exact = isExact(column);
    if (!exact) return { name, sql: `to_json(${sql})::text`, isString };
    const whole = typeOID === int8 ? `${sql}::text` : `to_json(${sql})::text`;
    return { name, sql: `case when ${exact} then ${whole} else to_json(${sql}::text)::text end`, isString };
  });
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
