import type { StandardSchemaV1 } from '@standard-schema/spec';
import { Problem } from '../errors.js';
import { findUnstorable } from '../protocol/json.js';
import { tooLargeArgs } from '../protocol/push.js';
import { pathOf } from './issues.js';
import type { Mutator, Mutators } from './mutators.js';

/** No mutator has this name. */
export class UnknownMutatorError extends Error {
  override readonly name = 'UnknownMutatorError';

  constructor() {
    super('no mutator has this name');
  }
}

/** A mutator, and the args to run it with. */
export interface PreparedCall<Tx, Context> {
  readonly mutator: Mutator<Tx, Context>;
  readonly args: unknown;
}

/**
 * Finds a mutator and validates its args.
 * @throws UnknownMutatorError, InvalidArgsError, Problem `body-too-large`, and whatever a validator throws
 */
export async function prepare<Tx, Context>(
  mutators: Mutators<Tx, Context>,
  name: string,
  args: unknown,
): Promise<PreparedCall<Tx, Context>> {
  const mutator = mutators.get(name);
  if (mutator === undefined) throw new UnknownMutatorError();
  if (args === tooLargeArgs) throw new Problem('body-too-large', 'The call is too large to be sent');
  const unstorable = findUnstorable(args);
  if (unstorable !== undefined) throw new InvalidArgsError([{ message: unstorable }]);
  const valid = await validate(mutator.validator, args);
  return { mutator, args: mutator.validates ? args : valid };
}

/** The maximum number of issues that a message names. There may be many, each with a long path. */
const maxNamed = 10;

/** A validator did not accept the args. The message lists the first issues and where they are. */
export class InvalidArgsError extends Error {
  override readonly name = 'InvalidArgsError';
  readonly issues: readonly StandardSchemaV1.Issue[];

  constructor(issues: readonly StandardSchemaV1.Issue[]) {
    super(issues.slice(0, maxNamed).map(describeIssue).join('; '));
    this.issues = issues;
  }
}

/**
 * Validates args and returns the validator's output. Without a validator, returns the args unchanged.
 * @throws InvalidArgsError
 */
export async function validate(validator: StandardSchemaV1 | undefined, args: unknown): Promise<unknown> {
  if (validator === undefined) return args;
  const result = await validator['~standard'].validate(args);
  if (result.issues) throw new InvalidArgsError(result.issues);
  return result.value;
}

function describeIssue(issue: StandardSchemaV1.Issue): string {
  return ['args', ...pathOf(issue)].join('.').concat(': ', issue.message);
}
