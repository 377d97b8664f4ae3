/** Finds the arguments with which views are checked before a client has asked for them. */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { SetupError } from './errors.js';
import { describeValidator } from './openapi/schemas/json-schema.js';
import { otherValues } from './openapi/schemas/other-values.js';
import { smallestValue } from './openapi/schemas/smallest-value.js';
import type { SchemaObject } from './openapi/types.js';
import { InvalidArgsError, validate } from './registry/prepare.js';
import type { Views } from './view/define.js';
import { inViewAsync } from './view/in-view.js';
import { type SampleArgs, type SampleInput, type SampleOptions, sampleInput, type ViewSample } from './view/sample.js';

/**
 * Returns the sample input for an application's views.
 * @throws SetupError that names a view for which no arguments can be found.
 */
export async function sampleInputFor<Context>(
  options: SampleOptions<Context> & { readonly views: Views<Context> },
): Promise<SampleInput<Context>> {
  return sampleInput(options, await sampleArgsOf(options.views));
}

async function sampleArgsOf<Context>(views: Views<Context>): Promise<SampleArgs> {
  const entries = Object.entries(views).map(async ([name, { args, sampleArgs }]) => {
    if (!args) return [];
    const valid = await inViewAsync(name, () => validSample(args, sampleArgs));
    return [[name, valid] as const];
  });
  return new Map((await Promise.all(entries)).flat());
}

async function validSample(validator: StandardSchemaV1, given: unknown): Promise<ViewSample> {
  const { schema } = await describeValidator(validator, 'input');
  const sample = given ?? smallestValue(schema);
  try {
    const args = await validate(validator, sample);
    return { args, variations: await validVariations(validator, sample, schema) };
  } catch (error) {
    if (!(error instanceof InvalidArgsError)) throw error;
    throw new SetupError(
      given === undefined
        ? `no arguments for checking it can be derived from its validator (${error.message}). Give it \`sampleArgs\`: arguments as a client sends them${ofJSON}`
        : `its \`sampleArgs\` are refused (${error.message}). They must be as a client sends them${ofJSON}`,
    );
  }
}

const ofJSON =
  '. That is as JSON, which has no dates, for example: take a date as text, with `z.iso.datetime()` or `z.coerce.date()`';

/** Returns, for each argument that can differ from the sample's, arguments that the validator accepts. */
async function validVariations(validator: StandardSchemaV1, sample: unknown, schema: SchemaObject): Promise<unknown[]> {
  const variations: unknown[] = [];
  for (const { name, values } of otherValues({ ...Object(sample) }, schema)) {
    for (const value of values) {
      const accepted = await acceptedBy(validator, { ...Object(sample), [name]: value });
      if (!accepted) continue;
      variations.push(accepted.args);
      break;
    }
  }
  return variations;
}

async function acceptedBy(validator: StandardSchemaV1, args: object): Promise<{ readonly args: unknown } | undefined> {
  try {
    const result = await validator['~standard'].validate(args);
    return result.issues ? undefined : { args: result.value };
  } catch {
    // A validator that throws does not accept the arguments. If it throws for all, the sample has been refused.
    return undefined;
  }
}
