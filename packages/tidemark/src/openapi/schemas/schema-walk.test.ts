import { describe, expect, it } from 'vitest';
import type { Schema } from '../types.js';
import { describePath, walkSchema } from './schema-walk.js';

describe('describePath', () => {
  it.each<[path: readonly string[], text: string]>([
    [[], ''],
    [['properties', 'due'], 'due'],
    [['properties', 'steps', 'items', 'properties', 'at'], 'steps[].at'],
    [['items'], '[]'],
    [['prefixItems', '1', 'properties', 'a'], '[1].a'],
    [['additionalProperties'], '*'],
    [['properties', 'a', 'patternProperties', '^x'], 'a.*'],
    [['properties', 'a', 'anyOf', '1', 'properties', 'b'], 'a.b'],
    [['properties', 'a', '$defs', 'Tree', 'properties', 'b'], 'Tree.b'],
    [['not', 'properties', 'items'], 'items'],
  ])('writes %j as %j', (path, text) => {
    expect(describePath(path)).toBe(text);
  });
});

describe('walkSchema', () => {
  /** Marks each subschema with its path. */
  const marked = (schema: Schema) => walkSchema(schema, (part, path) => ({ ...part, at: path.join('/') }));

  it('visits each subschema with its path', () => {
    expect(
      marked({
        items: { type: 'string' },
        anyOf: [{ not: {} }, true],
        properties: { a: { additionalProperties: false }, items: {} },
        $defs: { 'x/y': {} },
      }),
    ).toEqual({
      at: '',
      items: { type: 'string', at: 'items' },
      anyOf: [{ not: { at: 'anyOf/0/not' }, at: 'anyOf/0' }, true],
      properties: { a: { additionalProperties: false, at: 'properties/a' }, items: { at: 'properties/items' } },
      $defs: { 'x/y': { at: '$defs/x/y' } },
    });
  });

  it('does not change values that are not schemas', () => {
    const values = {
      const: { items: {} },
      default: [{ not: {} }],
      enum: [{ properties: {} }],
      examples: [{ anyOf: [{}] }],
      anyOf: 'x',
      properties: ['a', { b: 1 }],
      items: null,
      not: [{}],
    };
    expect(marked(values)).toEqual({ ...values, at: '' });
    expect(marked(true)).toBe(true);
  });
});
