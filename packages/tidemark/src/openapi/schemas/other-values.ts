/** Derives values that differ from a given one from a JSON Schema. Pure. */
import type { Schema, SchemaObject } from '../types.js';
import { choicesOf } from './resolve-ref.js';
import { smallestValue } from './smallest-value.js';

/** A property of an object, with values for it that differ from the object's. The schema may refuse them. */
export interface OtherValues {
  readonly name: string;
  readonly values: readonly unknown[];
}

/** Returns other values for each property of an object, including those that it lacks. */
export function otherValues(object: Readonly<Record<string, unknown>>, schema: Schema): OtherValues[] {
  const properties = typeof schema === 'boolean' ? {} : ((schema.properties ?? {}) as Readonly<Record<string, Schema>>);
  const names = new Set([...Object.keys(properties), ...Object.keys(object)]);
  return [...names].map((name) => {
    const value = object[name];
    const choices = choicesOf(properties[name] ?? true, schema);
    const values = [...choices.flatMap((choice) => candidatesOf(choice, value, schema)), varied(value)];
    const isOther = (other: unknown) => JSON.stringify(other) !== JSON.stringify(value);
    return { name, values: values.filter(isOther) };
  });
}

function candidatesOf(schema: SchemaObject, value: unknown, root: Schema): unknown[] {
  const listed = Array.isArray(schema.enum) ? (schema.enum as unknown[]) : [];
  const isMissing = value == null || (Array.isArray(value) && value.length === 0);
  return isMissing ? [...listed, smallestValue({ ...schema, default: undefined, minItems: 1 }, root)] : listed;
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const date = /^\d{4}-\d\d-\d\d/;

/** Returns a copy of a value in which each text, number and boolean differs. UUIDs, dates and times remain such. */
function varied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(varied);
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, varied(inner)]));
  }
  if (typeof value !== 'string') return value;
  if (uuid.test(value)) return value.replace(/.$/, (digit) => (digit === '1' ? '2' : '1'));
  return date.test(value) ? `${Number(value.slice(0, 4)) + 1}${value.slice(4)}` : `${value}x`;
}
