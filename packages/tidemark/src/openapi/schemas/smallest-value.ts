/** Derives a value from a JSON Schema. Pure. */
import type { Schema, SchemaObject } from '../types.js';
import { resolveRef } from './resolve-ref.js';

/** The value of a string with a format, where the shortest one would be refused. */
const formats: Readonly<Record<string, string>> = {
  uuid: '00000000-0000-4000-8000-000000000000',
  date: '2000-01-01',
  'date-time': '2000-01-01T00:00:00Z',
  time: '00:00:00Z',
  email: 'a@example.com',
  uri: 'https://example.com',
  ipv4: '127.0.0.1',
  ipv6: '::1',
};

/**
 * Returns an example of a value, its default, or else the smallest value that the schema accepts, as far as its types,
 * lengths and limits say. Patterns and conditions are ignored, so the schema may refuse the value.
 */
export function smallestValue(schema: Schema, root: Schema = schema): unknown {
  if (typeof schema === 'boolean') return null;
  const { $ref, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === 'string') return smallestValue(resolveRef($ref, root), root);
  for (const given of givenValues(schema)) return given;
  const [choice] = [...list(anyOf), ...list(oneOf)];
  if (choice !== undefined) return smallestValue(choice, root);
  const parts = list(allOf).filter((part) => typeof part === 'object');
  return valueOfType(Object.assign({}, schema, ...parts) as SchemaObject, root);
}

function givenValues({ examples, default: byDefault, const: constant, enum: choices }: SchemaObject): unknown[] {
  const [example] = list(examples);
  const [choice] = list(choices);
  return [example, byDefault, constant, choice].filter((value) => value !== undefined);
}

function valueOfType(schema: SchemaObject, root: Schema): unknown {
  const [type] = [schema.type].flat();
  switch (type) {
    case 'object':
      return objectOf(schema, root);
    case 'array':
      return Array.from({ length: numberOr(schema.minItems, 0) }, () =>
        smallestValue((schema.items ?? {}) as Schema, root),
      );
    case 'string':
      return formats[schema.format as string] ?? 'x'.repeat(numberOr(schema.minLength, 1));
    case 'boolean':
      return false;
    case 'number':
    case 'integer':
      return smallestNumber(schema);
    default:
      return null;
  }
}

function objectOf({ properties = {}, required }: SchemaObject, root: Schema): object {
  const needed = new Set<unknown>(list(required));
  const entries = Object.entries(properties as Record<string, Schema>).filter(([name]) => needed.has(name));
  return Object.fromEntries(entries.map(([name, property]) => [name, smallestValue(property, root)]));
}

function smallestNumber({ minimum, exclusiveMinimum, maximum }: SchemaObject): number {
  const least = numberOr(minimum, numberOr(exclusiveMinimum, -1) + 1);
  return Math.min(Math.max(0, least), numberOr(maximum, Number.POSITIVE_INFINITY));
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function list(value: unknown): Schema[] {
  return Array.isArray(value) ? (value as Schema[]) : [];
}
