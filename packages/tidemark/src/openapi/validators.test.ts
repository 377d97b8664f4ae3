import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { documentArgs, documentMutators, handWritten } from '../../../../test/integration/openapi/schemas.js';

/** The same arguments as a validator of each library. */
const todo = {
  zod: z.object({ title: z.string().min(1), done: z.boolean().optional(), tags: z.array(z.enum(['a', 'b'])) }),
  mini: mini.object({
    title: mini.string().check(mini.minLength(1)),
    done: mini.optional(mini.boolean()),
    tags: mini.array(mini.enum(['a', 'b'])),
  }),
  valibot: v.object({
    title: v.pipe(v.string(), v.minLength(1)),
    done: v.optional(v.boolean()),
    tags: v.array(v.picklist(['a', 'b'])),
  }),
  arktype: type({ title: 'string > 0', 'done?': 'boolean', tags: "('a' | 'b')[]" }),
};

const due = {
  zod: z.object({ due: z.date(), steps: z.array(z.object({ at: z.bigint() })), n: z.number() }),
  mini: mini.object({ due: mini.date(), steps: mini.array(mini.object({ at: mini.bigint() })), n: mini.number() }),
  valibot: v.object({ due: v.date(), steps: v.array(v.object({ at: v.bigint() })), n: v.number() }),
  arktype: type({ due: 'Date', steps: type({ at: 'bigint' }).array(), n: 'number' }),
};

const ZodTree = z.object({
  name: z.string(),
  get children() {
    return z.array(ZodTree);
  },
});
const MiniTree = mini.object({
  name: mini.string(),
  get children() {
    return mini.array(MiniTree);
  },
});
const ValibotTree: v.GenericSchema = v.object({ name: v.string(), children: v.array(v.lazy(() => ValibotTree)) });
const tree = {
  zod: ZodTree,
  mini: MiniTree,
  valibot: ValibotTree,
  arktype: type.scope({ tree: { name: 'string', children: 'tree[]' } }).export().tree,
};

const libraries = ['zod', 'mini', 'valibot', 'arktype'] as const;

describe.each(libraries)('a validator of %s', (library) => {
  it('is described by a JSON schema', async () => {
    const { schemas, warnings, post } = await documentArgs({ 'todo.create': todo[library] });
    const enumeration = library === 'arktype' ? { enum: ['a', 'b'] } : { type: 'string', enum: ['a', 'b'] };
    expect(schemas.TodoCreateArgs).toMatchObject({
      type: 'object',
      properties: {
        title: { type: 'string', minLength: 1 },
        done: { type: 'boolean' },
        tags: { type: 'array', items: enumeration },
      },
      required: expect.toSatisfy((names: string[]) => [...names].sort().join() === 'tags,title'),
    });
    expect(schemas.TodoCreateArgs).not.toHaveProperty('$schema');
    expect(post('/todo/create').requestBody?.required).toBe(true);
    expect(warnings).toEqual([]);
  });

  it('has parts described as any value, with a warning, where JSON Schema cannot express them', async () => {
    const { schemas, warnings } = await documentArgs({ 'todo.schedule': due[library] });
    expect(schemas.TodoScheduleArgs).toMatchObject({
      properties: {
        due: {},
        steps: { type: 'array', items: { type: 'object', properties: { at: {} }, required: ['at'] } },
        n: { type: 'number' },
      },
    });
    expect(JSON.stringify(schemas)).not.toContain('inexpressible');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^todo\.schedule: its arguments have parts that JSON Schema cannot express \(at .*\); they are described as any value$/,
    );
    expect(
      warnings[0]!
        .match(/\(at (.*)\)/)![1]!
        .split(', ')
        .sort(),
    ).toEqual(['due', 'steps[].at']);
  });

  it('may refer to itself', async () => {
    const { document, warnings } = await documentArgs({ 'tree.plant': tree[library] });
    const text = JSON.stringify(document);
    expect(text).not.toContain('$defs');
    expect(text).not.toContain('"$ref":"#"');
    // The arguments' children are reachable from the arguments, possibly through several components.
    const { schemas } = document.components;
    const resolve = (schema: unknown): Record<string, unknown> => {
      const { $ref } = schema as { $ref?: string };
      return $ref ? resolve(schemas[$ref.replace('#/components/schemas/', '')]) : (schema as Record<string, unknown>);
    };
    let node = resolve({ $ref: '#/components/schemas/TreePlantArgs' });
    for (let depth = 0; depth < 3; depth += 1) {
      expect(node).toMatchObject({ type: 'object', properties: { name: { type: 'string' } } });
      node = resolve(resolve((node.properties as { children: unknown }).children).items);
    }
    expect(Object.keys(schemas).length).toBeLessThan(8);
    expect(warnings).toEqual([]);
  });

  it('that accepts only undefined yields no request body', async () => {
    const nothing = { zod: z.undefined(), mini: mini.undefined(), valibot: v.undefined(), arktype: type('undefined') };
    const { post, schemas, warnings } = await documentArgs({ ping: nothing[library] });
    expect(post('/ping')).not.toHaveProperty('requestBody');
    expect(schemas.PingCall).toEqual({
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', const: 'ping' } },
    });
    expect(warnings).toEqual([]);
  });

  it('that accepts undefined yields an optional request body', async () => {
    const optional = {
      zod: z.object({ a: z.string() }).optional(),
      mini: mini.optional(mini.object({ a: mini.string() })),
      valibot: v.optional(v.object({ a: v.string() })),
      arktype: type({ a: 'string' }).or('undefined'),
    };
    const { post, schemas } = await documentArgs({ 'a.b': optional[library] });
    expect(post('/a/b').requestBody).toEqual({
      content: { 'application/json': { schema: { $ref: '#/components/schemas/ABArgs' } } },
    });
    expect(schemas.ABCall).toMatchObject({ required: ['name'] });
  });

  it('describes results as it returns them', async () => {
    const result = {
      zod: z.object({ n: z.string().transform(Number).pipe(z.number()), left: z.string().default('') }),
      mini: mini.object({
        n: mini.pipe(mini.pipe(mini.string(), mini.transform(Number)), mini.number()),
        left: mini._default(mini.string(), ''),
      }),
      valibot: v.object({ n: v.pipe(v.string(), v.transform(Number), v.number()), left: v.string() }),
      arktype: type({ n: 'string.numeric.parse', left: 'string' }),
    };
    const { post, schemas } = await documentMutators({
      'todo.count': { validator: todo[library], result: result[library] },
    });
    expect(schemas.TodoCountResult).toMatchObject({ properties: { left: { type: 'string' } } });
    if (library !== 'arktype') expect(schemas.TodoCountResult).toMatchObject({ properties: { n: { type: 'number' } } });
    expect(post('/todo/count').responses['200']).toMatchObject({
      content: {
        'application/json': {
          schema: {
            required: ['ok', 'result'],
            properties: { result: { $ref: '#/components/schemas/TodoCountResult' } },
          },
        },
      },
    });
  });
});

describe('a validator', () => {
  it.each([
    ['of an unknown library', handWritten((value) => value !== undefined), '"hand" does not convert its validators'],
    [
      'whose conversion throws',
      { '~standard': { ...z.string()['~standard'], vendor: 'x', jsonSchema: { input: fail, output: fail } } },
      'not today',
    ],
    ['whose metadata is not JSON', z.string().meta({ examples: ['a'], size: 1n }), 'Error converting schema to JSON.'],
  ])('%s is described as any value', async (_, validator, reason) => {
    const { schemas, warnings } = await documentArgs({ a: validator });
    expect(schemas.AArgs).toEqual({ description: 'Not described: JSON Schema cannot express it.' });
    expect(warnings).toEqual([
      `a: its arguments could not be converted to JSON Schema (${reason}); they are described as any value`,
    ]);
  });

  it('may be missing, so that any JSON is accepted', async () => {
    const { schemas, post, warnings } = await documentArgs({ a: undefined });
    expect(schemas.AArgs).toEqual({ description: 'Any JSON: the mutator does not check its arguments.' });
    expect(post('/a').requestBody).not.toHaveProperty('required');
    expect(warnings).toEqual([]);
  });

  it('inside a mutator, as in Zero, is not documented as missing', async () => {
    const { schemas } = await documentMutators({ a: { validator: undefined, validates: true } });
    expect(schemas.AArgs).toEqual({
      description: 'Not described here: if the mutator has a validator, it refuses arguments that are not valid.',
    });
  });

  it('that throws or never responds when it is tried makes args required', async () => {
    const silent = handWritten(() => true);
    const { post } = await documentArgs({
      throws: handWritten(fail),
      silent: { '~standard': { ...silent['~standard'], validate: () => new Promise(() => {}) } },
      async: z.string().refine(async () => true),
    });
    for (const path of ['/throws', '/silent', '/async']) expect(post(path).requestBody?.required).toBe(true);
  });

  it('that accepts more than undefined keeps the request body', async () => {
    const { post, warnings } = await documentArgs({
      any: z.custom(() => true),
      date: z.coerce.date().optional(),
    });
    for (const path of ['/any', '/date']) expect(post(path)).toHaveProperty('requestBody');
    expect(warnings).toEqual([
      'any: its arguments have parts that JSON Schema cannot express (at the top); they are described as any value',
      'date: its arguments have parts that JSON Schema cannot express (at the top); they are described as any value',
    ]);
  });
});

it('warns of inexpressible parts without paths if an older zod does not report them', async () => {
  const input = ({ libraryOptions }: { libraryOptions?: Record<string, unknown> }) =>
    libraryOptions?.unrepresentable === 'throw' ? fail() : { type: 'object', properties: { due: {} } };
  const validator = { '~standard': { ...z.object()['~standard'], jsonSchema: { input, output: input } } };
  const { schemas, warnings } = await documentArgs({ a: validator });
  expect(schemas.AArgs).toEqual({ type: 'object', properties: { due: {} } });
  expect(warnings).toEqual([
    'a: its arguments have parts that JSON Schema cannot express; they are described as any value',
  ]);
});

describe('a documented schema', () => {
  it('has the keywords of OpenAPI, and no private metadata', async () => {
    const validator = z.object({
      a: z.string().meta({ title: 'A', secret: 'x', 'x-order': 1 }),
      due: z.date().meta({ description: 'When' }),
    });
    expect((await documentArgs({ m: validator })).schemas.MArgs).toEqual({
      type: 'object',
      properties: { a: { type: 'string', title: 'A', 'x-order': 1 }, due: { description: 'When' } },
      required: ['a', 'due'],
    });
  });

  it('preserves values and names that look like keywords', async () => {
    const validator = z.object({
      $ref: z.literal('#/$defs/x'),
      secret: z.string().default('$defs'),
      properties: z.object({ id: z.string() }).default({ id: '#' }),
    });
    expect((await documentArgs({ m: validator })).schemas.MArgs).toEqual({
      type: 'object',
      properties: {
        $ref: { type: 'string', const: '#/$defs/x' },
        secret: { type: 'string', default: '$defs' },
        properties: { type: 'object', default: { id: '#' }, properties: { id: { type: 'string' } }, required: ['id'] },
      },
      required: ['$ref'],
    });
  });

  it('omits refinements, and describes valibot pipes up to the first transformation', async () => {
    const { schemas, warnings } = await documentMutators({
      zod: { validator: z.string().refine(() => true) },
      arktype: { validator: type('string').narrow(() => true) },
      valibot: {
        validator: v.pipe(
          v.string(),
          v.check(() => true),
          v.transform(Number),
        ),
        result: v.pipe(v.string(), v.trim()),
      },
      length: { validator: undefined, result: v.pipe(v.string(), v.transform(Number)) },
    });
    for (const name of ['ZodArgs', 'ArktypeArgs', 'ValibotArgs', 'ValibotResult']) {
      expect(schemas[name]).toEqual({ type: 'string' });
    }
    expect(schemas.LengthResult).toEqual({ description: 'Not described: JSON Schema cannot express it.' });
    expect(warnings).toEqual([
      'length: its results have parts that JSON Schema cannot express (at the top); they are described as any value',
    ]);
  });
});

function fail(): never {
  throw new Error('not today');
}
