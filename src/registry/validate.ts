import type { StandardSchemaV1 } from '@standard-schema/spec';
import { pathOf } from './issues.js';

/** The most issues that a message names: there may be many of them, each with a long path. */
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
