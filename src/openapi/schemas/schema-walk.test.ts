import { describe, expect, it } from 'vitest';
import type { Schema } from '../types.js';
import { describePath, walkSchema } from './schema-walk.js';

describe('a path in a schema', () => {
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
  ])('%j is written %j', (path, text) => {
    expect(describePath(path)).toBe(text);
  });
});

describe('a walk through a schema', () => {
  /** Marks each subschema with its path. */
  const marked = (schema: Schema) => walkSchema(schema, (part, path) => ({ ...part, at: path.join('/') }));

  it('sees each subschema, and where it is', () => {
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

  it('leaves alone what is no schema', () => {
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
