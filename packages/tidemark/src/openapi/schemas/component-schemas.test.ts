import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { documentArgs, documentMutators } from '../../../../../test/integration/openapi/schemas.js';
import { ComponentSchemas } from './component-schemas.js';

/** `.meta({id})` registers types for the whole process, so each test creates its own. */
const user = () => z.object({ name: z.string() }).meta({ id: 'User' });
const userSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe('definitions', () => {
  it('become components, one for all equal definitions', async () => {
    const User = user();
    const { schemas } = await documentArgs({ a: z.object({ from: User, to: User }), b: z.array(User), c: User });
    expect(schemas.User).toEqual(userSchema);
    expect(schemas.AArgs).toMatchObject({ properties: { from: ref('User'), to: ref('User') } });
    expect(schemas.BArgs).toEqual({ type: 'array', items: ref('User') });
    expect(schemas.CArgs).toEqual(ref('User'));
    expect(Object.keys(schemas).filter((name) => name.startsWith('User'))).toEqual(['User']);
  });

  it('of the same name that differ get distinct names, in the order of the registry', () => {
    const schemas = new ComponentSchemas(['A', 'B', 'C', 'D']);
    const withUser = (type: string) => ({ items: { $ref: '#/$defs/User' }, $defs: { User: { type } } });
    schemas.hoist('A', withUser('string'), 'input');
    schemas.hoist('B', withUser('number'), 'input');
    schemas.hoist('C', withUser('string'), 'output');
    schemas.hoist('D', withUser('boolean'), 'output');
    expect(schemas.toObject()).toEqual({
      A: { items: ref('User') },
      User: { type: 'string' },
      B: { items: ref('User2') },
      User2: { type: 'number' },
      C: { items: ref('User') },
      D: { items: ref('UserOutput') },
      UserOutput: { type: 'boolean' },
    });
  });

  it('that differ only in what they reference become different components', () => {
    const schemas = new ComponentSchemas(['A', 'B']);
    const nested = (type: string) => ({
      $ref: '#/$defs/Outer',
      $defs: { Outer: { items: { $ref: '#/$defs/Inner' } }, Inner: { type } },
    });
    schemas.hoist('A', nested('string'), 'input');
    schemas.hoist('B', nested('number'), 'input');
    expect(schemas.toObject()).toEqual({
      A: ref('Outer'),
      Outer: { items: ref('Inner') },
      Inner: { type: 'string' },
      B: ref('Outer2'),
      Outer2: { items: ref('Inner2') },
      Inner2: { type: 'number' },
    });
  });

  it('without a name are named after their schema, and unused ones are dropped', () => {
    const schemas = new ComponentSchemas(['A', 'B']);
    const $defs = { 0: { items: { $ref: '#/$defs/0' } }, unused: { type: 'string' } };
    schemas.hoist('A', { $ref: '#/$defs/0', $defs }, 'input');
    schemas.hoist('B', { properties: { tree: { $ref: '#/$defs/0' } }, $defs }, 'input');
    expect(schemas.toObject()).toEqual({
      A: { items: ref('A') },
      B: { properties: { tree: ref('BPart') } },
      BPart: { items: ref('BPart') },
    });
  });

  it.each([
    ['Item2', ref('Item2')],
    ['my__schema1', ref('my__schema1')],
    ['__schema12', { type: 'string' }],
    ['intersection237', { type: 'string' }],
    ['10', { type: 'string' }],
  ])('keep chosen names, and lose generated ones: %s', (name, expected) => {
    const schemas = new ComponentSchemas(['A']);
    schemas.hoist('A', { $ref: `#/$defs/${name}`, $defs: { [name]: { type: 'string' } } }, 'input');
    expect(schemas.toObject().A).toEqual(expected);
  });

  it('may have any name, and references may point to any part', () => {
    const schemas = new ComponentSchemas(['A', 'Problem']);
    const names = ['a/b~c d', '__proto__', 'constructor', 'Problem', '100%', 'größe'];
    const pointers = ['a~1b~0c d', '__proto__', 'constructor', 'Problem', '100%', 'gr%C3%B6%C3%9Fe'];
    schemas.hoist(
      'A',
      {
        anyOf: [
          ...pointers.map((pointer) => ({ $ref: `#/$defs/${pointer}` })),
          { $ref: '#/$defs/Problem/properties/x' },
          { $ref: '#/anyOf/0' },
          { $ref: '#' },
          { $ref: 'https://example.org/schema.json' },
          { $ref: '#/$defs/missing' },
        ],
        $defs: Object.fromEntries(names.map((name) => [name, { title: name, properties: { x: {} } }])),
      },
      'input',
    );
    const components = ['a_b_c_d', 'proto', 'constructor', 'Problem2', '100_', 'gr__e'];
    const result = schemas.toObject();
    expect(result.A).toEqual({
      anyOf: [
        ...components.map(ref),
        ref('Problem2/properties/x'),
        ref('A/anyOf/0'),
        ref('A'),
        { $ref: 'https://example.org/schema.json' },
        ref('missing'),
      ],
    });
    expect(new Map(Object.entries(result)).get('constructor')).toMatchObject({ title: 'constructor' });
    expect(components.map((name) => (result[name] as { title: string }).title)).toEqual(names);
    expect(result.missing).toBe(true);
  });

  it.each([
    'additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not', 'propertyNames', 'then',
    'unevaluatedItems', 'unevaluatedProperties',
  ])('are found under %s', (keyword) => {
    const schemas = new ComponentSchemas(['A']);
    schemas.hoist('A', { [keyword]: { $ref: '#/$defs/Key' }, $defs: { Key: { minLength: 1 } } }, 'input');
    expect(schemas.toObject()).toEqual({ A: { [keyword]: ref('Key') }, Key: { minLength: 1 } });
  }); // biome-ignore format: a list of keywords

  it.each(['allOf', 'anyOf', 'oneOf', 'prefixItems'])('are found in a list under %s', (keyword) => {
    const schemas = new ComponentSchemas(['A']);
    schemas.hoist('A', { [keyword]: [true, { $ref: '#/$defs/Key' }], $defs: { Key: { minLength: 1 } } }, 'input');
    expect(schemas.toObject()).toEqual({ A: { [keyword]: [true, ref('Key')] }, Key: { minLength: 1 } });
  });

  it.each(['dependentSchemas', 'patternProperties', 'properties'])('are found under the names in %s', (keyword) => {
    const schemas = new ComponentSchemas(['A']);
    schemas.hoist('A', { [keyword]: { x: { $ref: '#/$defs/Key' } }, $defs: { Key: { minLength: 1 } } }, 'input');
    expect(schemas.toObject()).toEqual({ A: { [keyword]: { x: ref('Key') } }, Key: { minLength: 1 } });
  });

  it('become different components for args and for results if these differ', async () => {
    const User = user();
    const { schemas, post } = await documentMutators({
      a: { validator: undefined, result: User },
      b: { validator: z.object({ User }) },
    });
    expect(schemas).toMatchObject({ User: userSchema, UserOutput: { ...userSchema, additionalProperties: false } });
    expect(schemas.AResult).toEqual(ref('UserOutput'));
    expect(post('/a').responses['200']).toMatchObject({
      content: { 'application/json': { schema: { properties: { result: ref('AResult') } } } },
    });
  });
});

describe('names with a meaning in JavaScript', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];

  it('are valid names of properties', async () => {
    const fields = Object.fromEntries(names.map((name) => [name, z.object({ due: z.date() })]));
    const { schemas, warnings } = await documentArgs({ a: z.object(fields) });
    const { properties } = schemas.AArgs as { properties: object };
    expect(Object.keys(properties)).toEqual(names);
    expect(Object.getPrototypeOf(properties)).toBe(Object.prototype);
    expect(JSON.parse(JSON.stringify(properties))).toEqual(properties);
    expect(warnings[0]).toContain(`(at ${names.map((name) => `${name}.due`).join(', ')})`);
  });

  it('are valid names of mutators and of their examples', async () => {
    const mutators = Object.fromEntries(
      names.map((name) => [name, { validator: z.string(), examples: { [name]: 'x' } }]),
    );
    const { document, post } = await documentMutators(mutators);
    for (const name of names) {
      expect(post(`/${name}`).requestBody?.content['application/json']).toHaveProperty('examples');
    }
    expect(Object.values(document.paths).map(({ post }) => post!.operationId)).toEqual([
      'proto',
      'constructor2',
      'toString',
      'hasOwnProperty',
      'batch',
    ]);
  });

  it('are valid names of definitions', async () => {
    const { schemas } = await documentArgs({
      zod: z.object({ a: z.string().meta({ id: '__proto__' }), b: z.number().meta({ id: 'constructor' }) }),
    });
    expect(schemas.ZodArgs).toMatchObject({ properties: { a: ref('proto'), b: ref('constructor') } });
    expect(schemas.proto).toEqual({ type: 'string' });
    expect(Object.hasOwn(schemas, 'constructor')).toBe(true);
  });
});

it('accepts recursive schemas of valibot, whose definitions are numbered', async () => {
  const Tree: v.GenericSchema = v.object({ kids: v.array(v.lazy(() => Tree)) });
  const { schemas } = await documentArgs({ a: Tree });
  const kids = { kids: { type: 'array', items: ref('AArgsPart') } };
  expect(schemas.AArgs).toMatchObject({ properties: kids });
  expect(schemas.AArgsPart).toMatchObject({ properties: kids });
});
