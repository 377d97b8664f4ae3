/**
 * Schemas that accept any value. The engine uses them only to check data that it has stored itself, and the checks are
 * a seventh of its size.
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
