import type { Schema } from '../types.js';

/** Returns the part of a schema that a reference such as `#/$defs/Name` names; an empty schema if there is none. */
export function resolveRef(ref: string, root: Schema): Schema {
  let part: unknown = root;
  for (const step of ref.split('/').slice(1)) {
    const name = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    part = (part as Record<string, unknown> | undefined)?.[name];
  }
  return (part ?? {}) as Schema;
}
