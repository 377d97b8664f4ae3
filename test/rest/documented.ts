/** Requests that a document of the REST surface describes. */
import fc from 'fast-check';
import { z } from 'zod';
import type { Mutators } from '../../src/registry/mutators.js';
import { arbitraryOf, type Schema } from './arbitrary-of.js';

/** As much of an OpenAPI document as requests are made from. */
export interface RequestDocument {
  readonly paths: Readonly<Record<string, { readonly post?: Operation }>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

interface Operation {
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
}

export interface DocumentedCall {
  readonly path: string;
  /** Undefined where there is no body. */
  readonly args: unknown;
}

/** What the document says of mutators whose validators are zod's. */
export function documentOf(mutators: Mutators): RequestDocument {
  const paths: Record<string, { post: Operation }> = {};
  const schemas: Record<string, Schema> = {};
  for (const [name, { validator }] of mutators) {
    const path = `/api/mutators/${name.replaceAll('.', '/')}`;
    if (validator instanceof z.ZodUndefined) paths[path] = { post: {} };
    if (!(validator instanceof z.ZodType) || validator instanceof z.ZodUndefined) continue;
    const text = JSON.stringify(z.toJSONSchema(validator, { io: 'input' }))
      .replaceAll('"$ref":"#/$defs/', `"$ref":"#/components/schemas/${name}.`)
      .replaceAll('"$ref":"#"', `"$ref":"#/components/schemas/${name}"`);
    const {
      $schema: _,
      $defs = {},
      ...schema
    } = JSON.parse(text) as { $schema: string; $defs?: Record<string, Schema> };
    for (const [key, definition] of Object.entries($defs)) schemas[`${name}.${key}`] = definition;
    schemas[name] = schema;
    const $ref = `#/components/schemas/${name}`;
    paths[path] = { post: { requestBody: { content: { 'application/json': { schema: { $ref } } } } } };
  }
  return { paths, components: { schemas } };
}

/** Calls that the document describes, of every path as often as of any other. */
export function documentedCalls(document: RequestDocument): fc.Arbitrary<DocumentedCall> {
  const calls = Object.entries(document.paths).flatMap(([path, { post }]): fc.Arbitrary<DocumentedCall>[] => {
    if (post === undefined) return [];
    const schema = post.requestBody?.content['application/json'].schema;
    const args = schema === undefined ? fc.constant(undefined) : arbitraryOf(schema, document);
    return [args.map((one) => ({ path, args: one }))];
  });
  return fc.oneof(...calls);
}
