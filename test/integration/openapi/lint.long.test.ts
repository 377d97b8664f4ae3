import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { info } from '../../../examples/tasks/src/api.js';
import type { DescribedMutator } from '../../../packages/tidemark/src/openapi/call.js';
import { lintWithRedocly, lintWithSpectral } from './lint.js';
import { documentMutators, handWritten } from './schemas.js';

const Tree = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree);
  },
});
const Person = z.object({ name: z.string(), born: z.iso.date().optional() }).meta({ id: 'Person', title: 'A person' });
const ValibotTree: v.GenericSchema = v.object({ children: v.array(v.lazy(() => ValibotTree)) });

/** Mutators of every known kind. */
const mutators: Record<string, DescribedMutator> = {
  none: { validator: undefined, examples: { anything: [1, null, 'x'] } },
  'none.result': { validator: undefined, result: z.object({ at: z.date(), by: Person }) },
  undefined: { validator: z.undefined(), deprecated: true },
  optional: { validator: Person.optional(), examples: { 'A person': { name: 'Ann' } } },
  'zod.everything': {
    summary: 'Everything',
    description: 'With *Markdown*, `code` and a [link](https://example.org).',
    validator: z.object({
      literal: z.literal(['a', 1, null]),
      union: z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })]),
      both: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
      tuple: z.tuple([z.string(), z.number()], z.boolean()),
      record: z.record(z.string().regex(/^[a-z]+$/), z.int()),
      email: z.email(),
      uuid: z.uuid().nullable(),
      when: z.iso.datetime().default('2026-01-01T00:00:00Z'),
      any: z.any(),
      never: z.never().optional(),
      date: z.date().optional(),
      coerced: z.coerce.number(),
      person: Person,
      people: z.array(Person).min(1).max(5),
      tree: Tree,
    }),
  },
  'zod.strict': { validator: z.strictObject({ n: z.int32() }), examples: { One: { n: 1 } } },
  'zod.recursive': { validator: Tree, result: Tree },
  'zod.strange': { validator: z.string().meta({ id: 'a/b c', size: 1, $id: 'urn:x' }) },
  'zod.proto': { validator: z.object({ constructor: z.string(), $ref: z.string(), toString: z.string() }) },
  'mini.object': { validator: mini.object({ a: mini.optional(mini.string()), d: mini.date() }) },
  'valibot.object': {
    validator: v.object({
      a: v.pipe(v.string(), v.email()),
      b: v.nullish(v.number()),
      c: v.variant('k', [v.object({ k: v.literal(1) }), v.object({ k: v.literal(2) })]),
    }),
    result: ValibotTree,
  },
  'arktype.object': { validator: type({ 'a?': 'string.email', b: '(string | number)[] >= 2', d: 'Date' }) },
  'arktype.recursive': { validator: type.scope({ tree: { 'kids?': 'tree[]' } }).export().tree },
  'hand.written': { validator: handWritten(() => true) },
  batch: { validator: undefined },
  Problem: {
    validator: z.object({ Call: z.string().meta({ id: 'Call' }), Problem: z.number().meta({ id: 'Problem' }) }),
  },
  'deep.er.and.deep.er': { validator: undefined },
  constructor: { validator: undefined },
};

/** Spectral decodes a path before it looks the path up, and then finds nothing under it. */
const encoded: typeof mutators = {
  'odd names.a/b?c#d': { validator: undefined },
  '{braces}': { validator: undefined },
  日本: { validator: undefined },
};

describe.each([true, false])('a document with idempotent: %s', (idempotent) => {
  const documentOf = async (registry = mutators) =>
    (await documentMutators(registry, { info, idempotent, basePath: '/x' })).document;

  it('passes the rules of Redocly', async () => {
    expect(await lintWithRedocly(await documentOf({ ...mutators, ...encoded }))).toEqual([]);
  });

  it('passes the rules of Spectral', async () => {
    expect(await lintWithSpectral(await documentOf())).toEqual([]);
  });
});

it.each([{}, { ping: { validator: undefined } }])(
  'a document of the mutators %j passes the rules of both linters',
  async (registry) => {
    const { document } = await documentMutators(registry, { info });
    expect([...(await lintWithRedocly(document)), ...(await lintWithSpectral(document))]).toEqual([]);
  },
);

it('both linters find a missing schema', async () => {
  const { document } = await documentMutators({ a: { validator: z.string() } }, { info });
  const { schemas: _, ...components } = document.components;
  const broken = { ...document, components };
  expect(await lintWithRedocly(broken)).not.toEqual([]);
  expect(await lintWithSpectral(broken)).not.toEqual([]);
});
