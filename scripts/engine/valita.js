/**
 * Schemas that take any value. The engine checks with them what it has itself stored, and nobody else's data: the checks
 * are a seventh of its size.
 */
const schema = new Proxy(() => schema, { get: () => schema });

export {
  schema as jsonObjectSchema,
  schema as jsonSchema,
  schema as readonlyArray,
  schema as readonlyObject,
  schema as readonlyRecord,
  schema as valita_exports,
};

export const assert = () => {};
export const test = (value) => ({ ok: true, value });
