import type { StandardSchemaV1 } from '@standard-schema/spec';
import { pathOf } from './issues.js';

/** A validator did not accept the args. The message names each issue and where it is. */
export class InvalidArgsError extends Error {
  override readonly name = 'InvalidArgsError';
  readonly issues: readonly StandardSchemaV1.Issue[];

  constructor(issues: readonly StandardSchemaV1.Issue[]) {
    super(issues.map(describeIssue).join('; '));
    this.issues = issues;
  }
}

/**
 * Passes args through a validator and returns what it makes of them; without one, returns them as they are.
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
