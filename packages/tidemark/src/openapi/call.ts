import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Mutator, MutatorDocs } from '../registry/mutators.js';
import { toCamelCase, UniqueNames } from './names.js';
import { type DescribedValidator, describeValidator } from './schemas/json-schema.js';
import { refusesJson, verdictOf } from './schemas/verdict.js';
import type { Example, SchemaObject } from './types.js';

/** The properties of a mutator that the document describes. */
export type DescribedMutator = MutatorDocs & Pick<Mutator, 'validator' | 'validates'>;

/** The args and the result of a call of a mutator. */
export interface CallDescription {
  /** Undefined if the mutator takes no args. */
  readonly args: SchemaObject | undefined;
  readonly areArgsRequired: boolean;
  readonly examples: Readonly<Record<string, Example>>;
  /** Undefined if the mutator does not declare what it returns. */
  readonly result: SchemaObject | undefined;
  readonly isResultRequired: boolean;
  /** The gaps in the description, as phrases that follow the mutator's name. */
  readonly lacks: readonly string[];
}

/** Describes a mutator's args and result. Never rejects. */
export async function describeCall(mutator: DescribedMutator): Promise<CallDescription> {
  const lacks: string[] = [];
  const args = await describeArgs(mutator, lacks);
  const result = await describeResult(mutator.result, lacks);
  return { ...args, ...result, examples: await describeExamples(mutator, lacks), lacks };
}

async function describeArgs(
  { validator, validates }: DescribedMutator,
  lacks: string[],
): Promise<Pick<CallDescription, 'args' | 'areArgsRequired'>> {
  if (!validator) {
    const description = validates
      ? 'Not described here: if the mutator has a validator, it refuses arguments that are not valid.'
      : 'Any JSON: the mutator does not check its arguments.';
    return { args: { description }, areArgsRequired: false };
  }
  const described = await describeValidator(validator, 'input');
  const areArgsRequired = !(await verdictOf(validator, undefined)).isAccepted;
  if (described.isInexpressible && !areArgsRequired && (await refusesJson(validator))) {
    return { args: undefined, areArgsRequired };
  }
  return { args: schemaOf(described, 'its arguments', lacks), areArgsRequired };
}

async function describeResult(
  validator: StandardSchemaV1 | undefined,
  lacks: string[],
): Promise<Pick<CallDescription, 'result' | 'isResultRequired'>> {
  if (!validator) return { result: undefined, isResultRequired: false };
  const described = await describeValidator(validator, 'output');
  const nothing = await verdictOf(validator, undefined);
  return {
    result: schemaOf(described, 'its results', lacks),
    isResultRequired: !(nothing.isAccepted && nothing.value === undefined),
  };
}

function schemaOf({ schema, lack }: DescribedValidator, subject: string, lacks: string[]): SchemaObject {
  if (lack === undefined) return schema;
  lacks.push(`${subject} ${lack}`);
  return Object.keys(schema).length === 0 ? { description: 'Not described: JSON Schema cannot express it.' } : schema;
}

/** Describes the examples that a caller can send as JSON and that the validator accepts. Omits all others. */
async function describeExamples(
  { validator, examples = {} }: DescribedMutator,
  lacks: string[],
): Promise<Readonly<Record<string, Example>>> {
  const names = new UniqueNames();
  const described: [string, Example][] = [];
  for (const [summary, args] of Object.entries(examples)) {
    const value = toJson(args);
    if (value !== undefined && (!validator || (await verdictOf(validator, value)).isAccepted)) {
      described.push([names.take(toCamelCase(summary, 'example')), { summary, value }]);
    } else {
      lacks.push(`its example "${summary}" is left out: it is not accepted as JSON`);
    }
  }
  return Object.fromEntries(described);
}

function toJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return undefined;
  }
}
