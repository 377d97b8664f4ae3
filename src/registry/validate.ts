import type { StandardSchemaV1 } from '@standard-schema/spec';

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

function describeIssue({ message, path = [] }: StandardSchemaV1.Issue): string {
  const keys = path.map((segment) => String(typeof segment === 'object' ? segment.key : segment));
  return ['args', ...keys].join('.').concat(': ', message);
}
