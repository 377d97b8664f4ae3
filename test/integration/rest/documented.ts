/** Requests that a document of the REST surface describes. */
import fc from 'fast-check';
import type { OpenAPIDocument } from '../../../packages/tidemark/src/openapi/types.js';
import { arbitraryOf, type Schema } from './arbitrary-of.js';

export interface DocumentedCall {
  readonly path: string;
  /** Undefined if there is no body. */
  readonly args: unknown;
}

/** Calls that the document describes, with all paths equally frequent: its examples, and what its schemas accept. */
export function documentedCalls(document: OpenAPIDocument): fc.Arbitrary<DocumentedCall> {
  const posts = Object.entries(document.paths).flatMap(([path, { post }]) => (post ? [[path, post] as const] : []));
  const calls = posts.map(([path, post]): fc.Arbitrary<DocumentedCall> => {
    const content = post.requestBody?.content['application/json'];
    if (content === undefined) return fc.constant({ path, args: undefined });
    const examples = Object.values(content.examples ?? {}).map(({ value }) => fc.constant(value));
    const made = arbitraryOf(content.schema as Schema, document);
    return fc.oneof({ weight: 4, arbitrary: made }, ...examples).map((args) => ({ path, args }));
  });
  return fc.oneof(...calls);
}
