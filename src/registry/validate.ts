import type { StandardSchemaV1 } from '@standard-schema/spec';
import { pathOf } from './issues.js';

/** The most issues that a message names: args may be all wrong, each in a place with a long name. */
const maxNamed = 10;

/** A validator did not accept the args. The message names the first issues and where they are. */
export class InvalidArgsError extends Error {
  override readonly name = 'InvalidArgsError';
  readonly issues: readonly StandardSchemaV1.Issue[];

  constructor(issues: readonly StandardSchemaV1.Issue[]) {
    super(issues.slice(0, maxNamed).map(describeIssue).join('; '));
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
