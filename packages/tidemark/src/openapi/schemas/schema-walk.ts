import type { Schema, SchemaObject } from '../types.js';

/** The keywords and names that lead to a subschema. */
export type SchemaPath = readonly string[];

const schemaKeywords = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const schemaListKeywords = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const schemaMapKeywords = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/**
 * Copies a schema from the outside in. Calls `change` for each subschema before its own subschemas. Values that are not
 * schemas (`const`, `default`, `examples` and so on) stay unchanged, even if they look like schemas.
 */
export function walkSchema(
  schema: Schema,
  change: (schema: SchemaObject, path: SchemaPath) => SchemaObject,
  path: SchemaPath = [],
): Schema {
  if (typeof schema === 'boolean') return schema;
  const walk = (child: unknown, ...way: string[]): unknown =>
    isSchema(child) ? walkSchema(child, change, [...path, ...way]) : child;
  return mapEntries(change(schema, path), (value, keyword) => {
    if (schemaKeywords.has(keyword)) return walk(value, keyword);
    if (schemaListKeywords.has(keyword) && Array.isArray(value)) {
      return value.map((child: unknown, index) => walk(child, keyword, String(index)));
    }
    if (schemaMapKeywords.has(keyword) && isObject(value)) {
      return mapEntries(value, (child, name) => walk(child, keyword, name));
    }
    return value;
  });
}

/** Formats a path as in a program: `todos[].due`. Returns an empty text for the schema itself. */
export function describePath(path: SchemaPath): string {
  let text = '';
  for (let index = 0; index < path.length; index += 1) {
    const keyword = path[index]!;
    const name = schemaMapKeywords.has(keyword) || schemaListKeywords.has(keyword) ? path[++index]! : '';
    if (keyword === 'properties') text += `.${name}`;
    else if (keyword === 'items') text += '[]';
    else if (keyword === 'prefixItems') text += `[${name}]`;
    else if (keyword === 'additionalProperties' || keyword === 'patternProperties') text += '.*';
    else if (keyword === '$defs') text = name;
  }
  return text.replace(/^\./, '');
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isObject(value);
}

function isObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Uses Object.fromEntries, which creates a property named `__proto__`. An assignment would not. */
function mapEntries(object: SchemaObject, map: (value: unknown, key: string) => unknown): SchemaObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}
