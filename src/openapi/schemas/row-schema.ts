/** The JSON Schema of a view's rows, from the types of its columns. Pure. */
import type { DescribedColumn, ResultType } from '../../catalog/result-types.js';
import type { SchemaObject } from '../types.js';

/** What is known about a view's rows. */
export interface DescribedRows {
  readonly columns: readonly DescribedColumn[];
  /** The names of the columns of its key. None of them is ever null. */
  readonly key: readonly string[];
  /** Whether a column that shows a table's column can be null only where that one can. */
  readonly keepsNotNull: boolean;
  /** The names that clients have for the columns, in order. */
  readonly names: readonly string[];
  /** The name of the column that is all that clients receive of a row. Default: an object of all columns. */
  readonly value?: string | undefined;
  /** Whether a column that is null is absent. */
  readonly omitsNulls: boolean;
  /** Whether times with a zone are written in UTC. */
  readonly isInUTC: boolean;
}

/** The schema of what clients receive of a row: an object of its columns, or one of them. */
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

/** Formats such as `date-time` refuse these. */
const orBeyondISO = 'or one that ISO 8601 does not have: `infinity`, `-infinity`, years BC and after 9999.';

/** The types whose JSON is more than any string. What a column's own value is may differ from an element of an array. */
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

/** Numbers that a double cannot hold exactly are strings, if they are a column's own value. */
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

/** An array's type does not limit its dimensions: an item may be another array. */
function arraySchema(element: SchemaObject): SchemaObject {
  const isAnything = Object.keys(element).length === 0;
  const nested = { type: 'array', items: {}, description: 'In an array of several dimensions.' };
  return { type: 'array', items: isAnything ? {} : { anyOf: [element, nested, { type: 'null' }] } };
}

/** The same schema, which also accepts null. */
function nullable({ type, anyOf, ...schema }: SchemaObject): SchemaObject {
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...(anyOf as SchemaObject[]), { type: 'null' }] };
  if (type === undefined) return schema;
  const types = [...(Array.isArray(type) ? (type as string[]) : [type]), 'null'];
  const { enum: values, ...others } = schema;
  return { type: types, ...others, ...(Array.isArray(values) && { enum: [...(values as unknown[]), null] }) };
}
