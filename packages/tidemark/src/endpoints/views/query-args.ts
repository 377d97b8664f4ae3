/** Reads the arguments of views from query strings. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describeValidator } from '../../openapi/schemas/json-schema.js';
import { choicesOf } from '../../openapi/schemas/resolve-ref.js';
import type { Schema, SchemaObject } from '../../openapi/types.js';
import { reservedParameters } from '../../openapi/view-conventions.js';
import { unknownArgs, validArgs } from './view-args.js';

/** Describes each validator once. */
export class QueryArgs {
  readonly #schemas = new WeakMap<StandardSchemaV1, Promise<SchemaObject>>();

  /**
   * Returns the arguments in a query string, as the validator returns them. A parameter becomes a value of the type that
   * the validator's JSON Schema has for it; one that is given several times, an array.
   * @param validator undefined if the view has no arguments
   * @param isStrict refuse parameters that are not arguments, rather than ignoring them
   * @throws Problem `invalid-args`, which names the parameters
   */
  async read(validator: StandardSchemaV1 | undefined, query: URLSearchParams, isStrict: boolean): Promise<unknown> {
    const schema = validator ? await this.#schemaOf(validator) : noArgs;
    const names = [...new Set(query.keys())].filter((name) => !reservedParameters.has(name));
    if (isStrict) checkNames(names, schema);
    return validator && validArgs(validator, coerceAll(schema, names, query));
  }

  #schemaOf(validator: StandardSchemaV1): Promise<SchemaObject> {
    const known = this.#schemas.get(validator);
    if (known) return known;
    const describing = describeValidator(validator, 'input').then(({ schema }) => schema);
    this.#schemas.set(validator, describing);
    return describing;
  }
}

/** The schema of a view without arguments. */
const noArgs: SchemaObject = { type: 'object', properties: {} };

/** @throws Problem `invalid-args` if a schema lists all arguments, and one of these is not among them */
function checkNames(names: readonly string[], { properties, additionalProperties = false }: SchemaObject): void {
  if (!properties || additionalProperties !== false) return;
  const unknown = names.filter((name) => !Object.hasOwn(properties as object, name));
  if (unknown.length > 0) throw unknownArgs(unknown, Object.keys(properties as object));
}

function coerceAll(schema: SchemaObject, names: readonly string[], query: URLSearchParams): object {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  return Object.fromEntries(
    names.map((name) => {
      const property = Object.hasOwn(properties, name) ? properties[name]! : true;
      return [name, coerce(property, query.getAll(name), schema)];
    }),
  );
}

function coerce(schema: Schema, texts: readonly string[], root: Schema): unknown {
  const choices = choicesOf(schema, root);
  const array = choices.find(({ type }) => [type].flat().includes('array'));
  if (array) return texts.map((text) => coerceOne(choicesOf((array.items ?? true) as Schema, root), text));
  return texts.length === 1 ? coerceOne(choices, texts[0]!) : texts;
}

/** Returns a text as the first type that accepts it; unchanged if none does, so that the validator refuses it. */
function coerceOne(choices: readonly SchemaObject[], text: string): unknown {
  const types = new Set(choices.flatMap(({ type }) => type ?? []));
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if ((types.has('number') || types.has('integer')) && Number.isFinite(number)) return number;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('null') && text === '' && !types.has('string')) return null;
  return types.has('object') ? parsed(text) : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
