/** Documents of small registries, and what they state about a mutator. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { DescribedMutator } from '../../../packages/tidemark/src/openapi/call.js';
import { createDocument, type DocumentOptions } from '../../../packages/tidemark/src/openapi/document.js';
import type { OpenAPIDocument, Operation, Schema } from '../../../packages/tidemark/src/openapi/types.js';

export type Validators = Readonly<Record<string, StandardSchemaV1 | undefined>>;

export interface Documented {
  readonly document: OpenAPIDocument;
  readonly warnings: readonly string[];
  readonly schemas: Readonly<Record<string, Schema>>;
  post(path: string): Operation;
}

/** Documents mutators that have only validators. */
export function documentArgs(validators: Validators, options?: Partial<DocumentOptions>): Promise<Documented> {
  return documentMutators(
    Object.fromEntries(Object.entries(validators).map(([name, validator]) => [name, { validator }])),
    options,
  );
}

export async function documentMutators(
  mutators: Readonly<Record<string, DescribedMutator>>,
  options?: Partial<DocumentOptions>,
): Promise<Documented> {
  const { document, warnings } = await createDocument({
    mutators: new Map(Object.entries(mutators)),
    basePath: '',
    idempotent: true,
    ...options,
  });
  const post = (path: string) => {
    const item = new Map(Object.entries(document.paths)).get(`/api/mutators${path}`);
    if (!item) throw new Error(`there is no ${path} among ${Object.keys(document.paths).join(', ')}`);
    return item.post!;
  };
  return { document, warnings, schemas: document.components.schemas, post };
}

/** A hand-written validator of an unknown vendor. */
export function handWritten(accepts: (value: unknown) => unknown): StandardSchemaV1 {
  return {
    '~standard': {
      version: 1,
      vendor: 'hand',
      validate: (value) => (accepts(value) ? { value } : { issues: [{ message: 'no' }] }),
    },
  };
}
