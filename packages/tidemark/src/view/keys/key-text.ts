/** SQL for a column of a row `v` in a key: the text of its value in the row's JSON. Pure. */
import type { ResultColumn } from '../../db/database.js';
import { identifier } from '../../sql.js';
import { exactness, isInUTC, utcText } from '../compile/value-sql.js';
import type { ValueOptions } from '../define.js';

const [boolean, name, int8, int2, int4, text, oid, float4, float8, varchar, numeric, uuid] = [
  16, 19, 20, 21, 23, 25, 26, 700, 701, 1043, 1700, 2950,
];

/** Types for which a cast to text gives the same text as `String` gives for their JSON. */
const plain: ReadonlySet<number> = new Set([boolean, name, int8, int2, int4, text, oid, varchar, uuid]);

/** True if a cast to text writes the column as it is in keys. */
export function isPlainKey({ typeOID }: Pick<ResultColumn, 'typeOID'>): boolean {
  return plain.has(typeOID);
}

/** Returns SQL for a column of a row `v` in a key: the text that JavaScript's `String` gives for the row's field. */
export function keyText(column: string, columns: readonly ResultColumn[], valueOptions: ValueOptions): string {
  const sql = `v.${identifier(column)}`;
  if (isInUTC(column, columns, valueOptions)) return `(${utcText(sql)})`;
  const { typeOID } = columns.find(({ name: found }) => found === column)!;
  if (plain.has(typeOID)) return `${sql}::text`;
  if (typeOID === numeric) return numericText(sql);
  if (typeOID === float4 || typeOID === float8) return floatText(sql, typeOID);
  return `(to_json(${sql}) #>> '{}')`;
}

/** Numbers that JavaScript cannot hold exactly are sent as strings. */
function numericText(sql: string): string {
  return `(case when ${exactness(sql, numeric)} then ${numberText(sql)} else ${sql}::text end)`;
}

/** NaN and the infinities are sent as strings. */
function floatText(sql: string, typeOID: number): string {
  const digits = typeOID === float8 ? shortest(sql) : `${sql}::text::numeric`;
  return `(case when ${sql} in ('NaN', 'Infinity', '-Infinity') then ${sql}::text else ${numberText(digits)} end)`;
}

/**
 * Returns the shortest decimal that reads as the same double, as JavaScript writes it. Postgres writes a longer one if
 * the shortest is halfway between two doubles, as for some from 2^54 to 1e41: 1e23 is 9.999999999999999e+22.
 * @see https://tc39.es/ecma262/#sec-numeric-types-number-tostring
 */
function shortest(sql: string): string {
  return `case when abs(${sql}) between 18014398509481984 and 1e41 then coalesce((
    select n from (select ${sql}::text::numeric as p, 16 - length(trunc(abs(${sql}::text::numeric))::text) as sixteen) d
    cross join lateral (values (1, ${sql}::numeric), (2, round(p, sixteen)), (3, trunc(p, sixteen))) shorter (ordinal, n)
    where n::float8 = ${sql} order by ordinal limit 1
  ), ${sql}::text::numeric) else ${sql}::text::numeric end`;
}

/** Returns a finite number as JavaScript writes it. */
function numberText(sql: string): string {
  const [digits, scientific] = ['trim_scale(n)::text', `ltrim(to_char(n, '9.9999999999999999EEEE'))`];
  return `(select case when n = 0 or abs(n) >= 0.000001 and abs(n) < 1e21 then ${digits}
    else regexp_replace(${scientific}, '[.]?0*e([-+])0?', E'e\\\\1') end from (select ${sql} as n offset 0) d)`;
}
