import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Schema, SchemaObject } from '../types.js';
import { convert, inexpressible, type Side } from './converters.js';
import { describePath, walkSchema } from './schema-walk.js';

/** A validator as JSON Schema (draft 2020-12), as far as possible. */
export interface DescribedValidator {
  /** A schema whose `$ref`s point into itself. Parts that cannot be expressed accept any value. */
  readonly schema: SchemaObject;
  /** The gaps in the schema, as the end of a sentence about the value; undefined if there are none. */
  readonly lack?: string | undefined;
  /** True if JSON Schema, and so perhaps JSON, does not have the type of the whole value. */
  readonly isInexpressible: boolean;
}

/**
 * The keywords that are kept: those of JSON Schema and of OpenAPI. Others are removed, because validators may contain
 * private metadata.
 */
const keywords = new Set(
  `$anchor $comment $defs $dynamicAnchor $dynamicRef $ref additionalProperties allOf anyOf const contains contentEncoding
  contentMediaType contentSchema default definitions dependentRequired dependentSchemas deprecated description else enum
  examples exclusiveMaximum exclusiveMinimum format if items maxContains maxItems maxLength maxProperties maximum minContains
  minItems minLength minProperties minimum multipleOf not oneOf pattern patternProperties prefixItems properties propertyNames
  readOnly required then title type unevaluatedItems unevaluatedProperties uniqueItems writeOnly
  discriminator example externalDocs xml`.split(/\s+/),
);
const annotations = new Set(['title', 'description', 'deprecated']);

/** Describes a validator. Never rejects: a validator that cannot be converted is described as accepting any value. */
export async function describeValidator(validator: StandardSchemaV1, side: Side): Promise<DescribedValidator> {
  try {
    const { schema, hasGaps } = await convert(validator, side);
    return clean(schema, hasGaps);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const lack = `could not be converted to JSON Schema (${reason}); they are described as any value`;
    return { schema: {}, lack, isInexpressible: false };
  }
}

function clean(converted: unknown, hasGaps: boolean): DescribedValidator {
  const paths: string[] = [];
  // The copy goes through JSON, because the document is JSON and the library's own objects must not change.
  const raw = JSON.parse(JSON.stringify(converted)) as Schema;
  const schema = walkSchema(raw, (part, path) => {
    const isGap = part[inexpressible] === true;
    if (isGap) paths.push(describePath(path));
    const allowed = isGap ? annotations : keywords;
    return Object.fromEntries(
      Object.entries(part).filter(([keyword]) => allowed.has(keyword) || (!isGap && keyword.startsWith('x-'))),
    );
  });
  return {
    schema: typeof schema === 'boolean' ? (schema ? {} : { not: {} }) : schema,
    lack: hasGaps || paths.length > 0 ? lackAt(paths) : undefined,
    isInexpressible: typeof raw === 'object' && raw[inexpressible] === true,
  };
}

function lackAt(paths: readonly string[]): string {
  const names = [...new Set(paths)].map((path) => path || 'the top');
  const where = names.length > 0 ? ` (at ${names.join(', ')})` : '';
  return `have parts that JSON Schema cannot express${where}; they are described as any value`;
}
