/** Values that a JSON Schema accepts, for the keywords that validators' schemas use. */
import fc from 'fast-check';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly examples?: readonly unknown[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema | boolean;
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

/** The document in which references are resolved, and the number of references followed so far. */
interface Scope {
  readonly root: object;
  readonly depth: number;
}

/** After this many references, everything optional is left out. */
const maxDepth = 5;
const isTooDeep = ({ depth }: Scope) => depth > maxDepth;

/** @param root the document that references point into */
export function arbitraryOf(schema: Schema, root: object = schema): fc.Arbitrary<unknown> {
  return build(schema, { root, depth: 0 });
}

function build(schema: Schema, scope: Scope): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return build(follow(schema.$ref, scope.root), { ...scope, depth: scope.depth + 1 });
  if (schema.examples) {
    // Examples are as frequent as other values, so that calls name the same things.
    const { examples, ...rest } = schema;
    return fc.oneof(fc.constantFrom(...examples), build(rest, scope));
  }
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...(isTooDeep(scope) ? leavesOf(choices) : choices).map((one) => build(one, scope)));
  if (schema.allOf) return buildAll(schema, schema.allOf, scope);
  if (schema.type === undefined && schema.properties === undefined) return anything();
  const types = [schema.type ?? 'object'].flat();
  return fc.oneof(...types.map((type) => buildType(type, schema, scope)));
}

function follow(ref: string, root: object): Schema {
  if (!ref.startsWith('#')) throw new Error(`${ref} leads out of the document`);
  const segments = ref.split('/').slice(1);
  return segments.reduce<unknown>((node, segment) => {
    const key = decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~');
    const next = (node as Record<string, unknown>)[key];
    if (next === undefined) throw new Error(`${ref} leads nowhere`);
    return next;
  }, root) as Schema;
}

function leavesOf(choices: readonly Schema[]): readonly Schema[] {
  const leaves = choices.filter((choice) => !JSON.stringify(choice).includes('"$ref"'));
  return leaves.length > 0 ? leaves : choices;
}

/** Merges objects. For texts, one schema generates them, and the patterns of the others filter them. */
function buildAll({ allOf: _, ...own }: Schema, all: readonly Schema[], scope: Scope): fc.Arbitrary<unknown> {
  const parts = all.map((one) => (one.$ref === undefined ? one : follow(one.$ref, scope.root)));
  if (parts.every(({ type, properties }) => type === 'object' || properties !== undefined)) {
    const wholes = own.properties ? [...parts, own] : parts;
    return fc.tuple(...wholes.map((one) => build(one, scope))).map((objects) => Object.assign({}, ...objects));
  }
  const [first, ...others] = parts;
  const patterns = others.flatMap(({ pattern }) => (pattern === undefined ? [] : [new RegExp(pattern, 'u')]));
  return build({ ...own, ...first }, scope).filter((value) => patterns.every((pattern) => pattern.test(String(value))));
}

function buildType(type: string, schema: Schema, scope: Scope): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'string':
      return text(schema);
    case 'integer':
    case 'number':
      return number(schema, type === 'integer' ? (schema.multipleOf ?? 1) : schema.multipleOf);
    case 'array':
      return array(schema, scope);
    case 'object':
      return object(schema, scope);
    default:
      throw new Error(`values of the type ${type} cannot be made`);
  }
}

/** Leaves out U+0000, because no schema says that Postgres cannot store it. */
function anything(): fc.Arbitrary<unknown> {
  return fc
    .jsonValue({ maxDepth: 2, stringUnit: 'binary' })
    .filter((value) => !JSON.stringify(value).includes('\\u0000'));
}

function text({ minLength = 0, maxLength, pattern, format }: Schema): fc.Arbitrary<string> {
  const matching = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const made =
    formatted(format) ??
    (matching
      ? fc.stringMatching(matching)
      : fc.string({ unit: 'binary', minLength, ...(maxLength !== undefined && { maxLength }) }));
  // Schemas count code points, but validators often count UTF-16 units.
  return made.filter(
    (value) =>
      !/\p{Surrogate}|\0/u.test(value) &&
      [...value].length >= minLength &&
      value.length <= (maxLength ?? Number.POSITIVE_INFINITY) &&
      (matching?.test(value) ?? true),
  );
}

function formatted(format: string | undefined): fc.Arbitrary<string> | undefined {
  const dates = () => fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  switch (format) {
    case 'uuid':
      return fc.uuid();
    case 'email':
      return fc.emailAddress();
    case 'uri':
      return fc.webUrl();
    case 'date-time':
      return dates().map((date) => date.toISOString());
    case 'date':
      return dates().map((date) => date.toISOString().slice(0, 10));
    default:
      return undefined;
  }
}

function number(schema: Schema, step: number | undefined): fc.Arbitrary<number> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const lowest = Math.max(minimum ?? Number.NEGATIVE_INFINITY, exclusiveMinimum ?? Number.NEGATIVE_INFINITY);
  const highest = Math.min(maximum ?? Number.POSITIVE_INFINITY, exclusiveMaximum ?? Number.POSITIVE_INFINITY);
  const made =
    step === undefined
      ? fc.double({ min: lowest, max: highest, noNaN: true, noDefaultInfinity: true })
      : fc
          .integer({
            min: Math.max(Math.ceil(lowest / step), Number.MIN_SAFE_INTEGER),
            max: Math.min(Math.floor(highest / step), Number.MAX_SAFE_INTEGER),
          })
          .map((count) => count * step);
  return made.filter((value) => value > (exclusiveMinimum ?? -Infinity) && value < (exclusiveMaximum ?? Infinity));
}

function array({ items, prefixItems = [], minItems = 0, maxItems }: Schema, scope: Scope): fc.Arbitrary<unknown[]> {
  const first = fc.tuple(...prefixItems.map((item) => build(item, scope)));
  if (prefixItems.length > 0 && typeof items !== 'object') return first;
  const minLength = Math.max(0, minItems - prefixItems.length);
  if (isTooDeep(scope) && minLength === 0) return first;
  const rest = fc.array(typeof items === 'object' ? build(items, scope) : anything(), {
    minLength,
    maxLength: isTooDeep(scope) ? minLength : Math.min(maxItems ?? Number.POSITIVE_INFINITY, minLength + 4),
  });
  return fc.tuple(first, rest).map(([head, tail]) => [...head, ...tail]);
}

function object(schema: Schema, scope: Scope): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const isIncluded = ([name]: [string, Schema]) => required.includes(name) || !isTooDeep(scope);
  const own = Object.entries(properties).filter(isIncluded);
  const declaredFields = fc.record(Object.fromEntries(own.map(([name, one]) => [name, build(one, scope)])), {
    requiredKeys: required.filter((name) => Object.hasOwn(properties, name)),
  });
  if (additionalProperties === false || isTooDeep(scope)) return declaredFields;
  const names = propertyNames
    ? (build(propertyNames, scope) as fc.Arbitrary<string>)
    : fc.string({ minLength: 3, maxLength: 8 });
  const values = typeof additionalProperties === 'object' ? build(additionalProperties, scope) : anything();
  const more = fc.dictionary(
    names.filter((name) => !Object.hasOwn(properties, name)),
    values,
    { maxKeys: 3, noNullPrototype: true },
  );
  return fc.tuple(more, declaredFields).map(([extraFields, fields]) => ({ ...extraFields, ...fields }));
}
