import type { Schema, SchemaObject } from '../types.js';

/** Returns the part of a schema that a reference such as `#/$defs/Name` names; an empty schema if there is none. */
export function resolveRef(ref: string, root: Schema): Schema {
  let part: unknown = root;
  for (const step of ref.split('/').slice(1)) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    part = (part as Record<string, unknown> | undefined)?.[name];
  }
  return (part ?? {}) as Schema;
}

/** Returns the alternatives of a schema. */
export function choicesOf(schema: Schema, root: Schema): SchemaObject[] {
  if (typeof schema === 'boolean') return [];
  const { $ref, anyOf, oneOf } = schema;
  if (typeof $ref === 'string') return choicesOf(resolveRef($ref, root), root);
  const choices = [...((anyOf ?? []) as Schema[]), ...((oneOf ?? []) as Schema[])];
  return choices.length > 0 ? choices.flatMap((choice) => choicesOf(choice, root)) : [schema];
}
