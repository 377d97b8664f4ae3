/** Derives the JSON Schema of a view's rows from the types of its columns. Pure. */
import type { DescribedColumn, ResultType } from '../../catalog/result-types.js';
import type { SchemaObject } from '../types.js';

/** The properties of a view's rows that determine their schema. */
export interface DescribedRows {
  readonly columns: readonly DescribedColumn[];
  /** The names of the key's columns, which are never null. */
  readonly key: readonly string[];
  /** True if a column that shows a table's column can be null only where the table's column can. */
  readonly keepsNotNull: boolean;
  /** The names under which clients receive the columns, in order. */
  readonly names: readonly string[];
  /** The name of the only column that clients receive. Default: they receive an object of all columns. */
  readonly value?: string | undefined;
  /** True if null columns are omitted. */
  readonly omitsNulls: boolean;
  /** True if times with a time zone are written in UTC. */
  readonly isInUTC: boolean;
}

/** Returns the schema of a row as clients receive it: an object of its columns, or one of them. */
export function rowSchema(rows: DescribedRows): SchemaObject {
  const { columns, key, keepsNotNull, names, value, omitsNulls, isInUTC } = rows;
  const isNeverNull = ({ name, isNotNull }: DescribedColumn) => key.includes(name) || (keepsNotNull && isNotNull);
  const schemaOf = (column: DescribedColumn) => columnSchema(column.type, isInUTC);
  const orNull = (column: DescribedColumn) => (isNeverNull(column) ? schemaOf(column) : nullable(schemaOf(column)));
  if (value !== undefined) return orNull(columns.find(({ name }) => name === value)!);
  return {
    type: 'object',
    required: names.filter((_, i) => !omitsNulls || isNeverNull(columns[i]!)),
    properties: Object.fromEntries(
      columns.map((column, i) => [names[i], omitsNulls ? schemaOf(column) : orNull(column)]),
    ),
  };
}

const notNumbers: SchemaObject = { type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] };
const float: SchemaObject = { anyOf: [{ type: 'number' }, notNumbers] };

/** Values that formats such as `date-time` do not allow. */
const orBeyondISO = 'or one that ISO 8601 does not have: `infinity`, `-infinity`, years BC and after 9999.';

/** Types whose JSON is not just any string. A column's own value can differ from an element of an array. */
const builtin: Readonly<Record<string, SchemaObject>> = {
  bool: { type: 'boolean' },
  int2: { type: 'integer' },
  int4: { type: 'integer', format: 'int32' },
  int8: { type: 'integer', format: 'int64' },
  float4: float,
  float8: float,
  numeric: float,
  json: {},
  jsonb: {},
  uuid: { type: 'string', format: 'uuid' },
  date: { type: 'string', description: `A date such as 2026-01-31, ${orBeyondISO}` },
  timestamptz: { type: 'string', description: `A time such as 2026-01-31T12:00:00+01:00, ${orBeyondISO}` },
};

/** As a column's own value, a number that a double cannot hold exactly is a string. */
const exact: Readonly<Record<string, SchemaObject>> = {
  int8: { type: ['integer', 'string'], description: 'A string if it is beyond the safe integers.' },
  numeric: { type: ['number', 'string'], description: 'A string if a double could not hold it exactly.' },
};

const utc: SchemaObject = {
  type: 'string',
  description: `A time in UTC, such as 2026-01-31T12:00:00Z, ${orBeyondISO}`,
};

function columnSchema(type: ResultType, isInUTC: boolean): SchemaObject {
  if (isInUTC && type.builtin && type.name === 'timestamptz') return { ...utc };
  const own = type.builtin ? exact[type.name] : undefined;
  return { ...(own ?? valueSchema(type)) };
}

function valueSchema({ name, builtin: isBuiltin, kind, labels, hasCast, inner }: ResultType): SchemaObject {
  if (hasCast) return {};
  if (inner) return kind === 'd' ? valueSchema(inner) : arraySchema(valueSchema(inner));
  if (kind === 'e') return { type: 'string', enum: labels };
  if (kind === 'c') return { type: 'object' };
  return (isBuiltin ? builtin[name] : undefined) ?? { type: 'string' };
}

/** An array's type does not limit its dimensions, so an item can be another array. */
function arraySchema(element: SchemaObject): SchemaObject {
  const isAnything = Object.keys(element).length === 0;
  const nested = { type: 'array', items: {}, description: 'In an array of several dimensions.' };
  return { type: 'array', items: isAnything ? {} : { anyOf: [element, nested, { type: 'null' }] } };
}

/** Returns a schema that also accepts null. */
function nullable({ type, anyOf, ...schema }: SchemaObject): SchemaObject {
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...(anyOf as SchemaObject[]), { type: 'null' }] };
  if (type === undefined) return schema;
  const types = [...(Array.isArray(type) ? (type as string[]) : [type]), 'null'];
  const { enum: values, ...others } = schema;
  return { type: types, ...others, ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }) };
}
