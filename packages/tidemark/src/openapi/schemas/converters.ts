import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';

/** A side of a validator: what it accepts, or what it returns. */
export type Side = 'input' | 'output';

/** The property that marks the parts of a converted schema that JSON Schema cannot express. */
export const inexpressible = 'x-tidemark-inexpressible';

/** The result of `convert`. */
export interface RawConversion {
  /** The value that the library returned. */
  readonly schema: unknown;
  /** True if a part could not be expressed, even if no `inexpressible` property marks it. */
  readonly hasGaps: boolean;
}

const target = 'draft-2020-12';
const gap = { [inexpressible]: true };
const needsZod4 =
  'this needs zod 4, and it is of zod 3, which validates just as well: install zod 4 to have it described';

/**
 * Converts a validator to JSON Schema with its own library. Marks parts that cannot be expressed, if the library can.
 * @throws Error if the library cannot convert it, or if its optional package cannot be loaded
 */
export async function convert(validator: StandardSchemaV1, side: Side): Promise<RawConversion> {
  const { vendor } = validator['~standard'];
  const converter = converterOf(validator);
  if (converter) {
    const toSchema = (libraryOptions?: Record<string, unknown>) =>
      converter[side]({ target, ...(libraryOptions && { libraryOptions }) });
    if (vendor === 'zod') return strictOrLenient((unrepresentable) => toSchema({ unrepresentable }));
    if (vendor === 'arktype') return lenient(toSchema({ fallback: arktypeFallback }));
    if (vendor === 'valibot') return lenient(toSchema(valibotOptions(side)));
    return lenient(toSchema());
  }
  if (vendor === 'zod') {
    // Validators of zod 4 have this property. Those of `zod/v4` in zod 3 have it too, but zod 3 cannot convert them.
    if (!('_zod' in validator)) throw new Error(needsZod4);
    const { toJSONSchema } = await loadZod();
    if (!toJSONSchema) throw new Error(needsZod4);
    return strictOrLenient((unrepresentable) => toJSONSchema(validator, { io: side, target, unrepresentable }));
  }
  if (vendor === 'valibot') {
    const { toJsonSchema } = await loadValibot();
    return lenient(toJsonSchema(validator, { target, typeMode: side, ...valibotOptions(side) }));
  }
  throw new Error(`"${vendor}" does not convert its validators`);
}

/** Before 4.6, zod accepts no function and marks nothing. Only the strict attempt determines whether there are gaps. */
function strictOrLenient(toSchema: (unrepresentable: 'throw' | (() => object)) => unknown): RawConversion {
  try {
    return { schema: toSchema('throw'), hasGaps: false };
  } catch {
    return { schema: toSchema(() => gap), hasGaps: true };
  }
}

function lenient(schema: unknown): RawConversion {
  return { schema, hasGaps: false };
}

/** Omits a predicate, which only narrows its base. The refinements of other validators are omitted as well. */
function arktypeFallback({ code, base }: { readonly code: string; readonly base: object }): object {
  return code === 'predicate' ? base : { ...base, ...gap };
}

interface ValibotStep {
  readonly errors: readonly string[] | null | undefined;
  readonly jsonSchema: object;
}

interface ValibotAction extends ValibotStep {
  readonly valibotAction: { readonly kind: string; readonly type: string };
}

const typeKeepingTransformations = new Set([
  'normalize',
  'to_lower_case',
  'to_upper_case',
  'trim',
  'trim_end',
  'trim_start',
]);

/** Omits validations that cannot be expressed. Marks transformations, unless they keep the type of their base. */
function valibotOptions(side: Side): Record<string, unknown> {
  return {
    errorMode: 'ignore',
    overrideSchema: ({ errors }: ValibotStep) => (errors ? gap : undefined),
    overrideAction: ({ errors, valibotAction: { kind, type } }: ValibotAction) =>
      errors && side === 'output' && kind === 'transformation' && !typeKeepingTransformations.has(type)
        ? gap
        : undefined,
  };
}

interface ZodModule {
  /** Since zod 4. */
  readonly toJSONSchema?: (validator: StandardSchemaV1, options: object) => unknown;
}

interface ValibotModule {
  toJsonSchema(validator: StandardSchemaV1, options: object): unknown;
}

// Optional packages. An application with such validators has installed one, in a version of its choice. Bundlers ignore
// a missing one, because it is imported within `try`.

async function loadZod(): Promise<ZodModule> {
  try {
    return (await import('zod')) as ZodModule;
  } catch (cause) {
    throw notLoaded('zod', cause);
  }
}

async function loadValibot(): Promise<ValibotModule> {
  try {
    return (await import('@valibot/to-json-schema')) as ValibotModule;
  } catch (cause) {
    throw notLoaded('@valibot/to-json-schema', cause);
  }
}

function notLoaded(name: string, cause: unknown): Error {
  return new Error(`the package ${name} could not be loaded: is it installed?`, { cause });
}

function converterOf(validator: StandardSchemaV1): StandardJSONSchemaV1.Converter | undefined {
  const { jsonSchema } = validator['~standard'] as Partial<StandardJSONSchemaV1.Props>;
  return typeof jsonSchema?.input === 'function' && typeof jsonSchema.output === 'function' ? jsonSchema : undefined;
}
