import type { StandardSchemaV1 } from '@standard-schema/spec';
import { Problem } from '../../errors.js';
import { unreadable } from '../../protocol/wants.js';
import { type CallIssue, toIssues } from '../../registry/issues.js';
import { InvalidArgsError, validate } from '../../registry/prepare.js';

/**
 * Returns the arguments of a view as its validator returns them.
 * @throws Problem `invalid-args`, which names those that are not valid
 */
export async function validArgs(validator: StandardSchemaV1, args: unknown): Promise<unknown> {
  try {
    return await validate(validator, args);
  } catch (error) {
    if (!(error instanceof InvalidArgsError)) throw error;
    throw invalidArgs('The arguments of the view are not valid', toIssues(error.issues, args));
  }
}

/** Returns the failure of arguments that the view's validator accepts, but Postgres does not. */
export function unreadableArgs(cause: unknown): Problem {
  return invalidArgs(unreadable, [{ path: [], message: unreadable }], cause);
}

/**
 * Returns the failure of arguments that a view does not have.
 * @param known the names of those that it has
 */
export function unknownArgs(names: readonly string[], known: readonly string[]): Problem {
  const message =
    known.length > 0 ? `The view has only these arguments: ${known.join(', ')}` : 'The view has no arguments';
  const issues = names.map((name) => ({ path: [name], message }));
  return invalidArgs('The view has no such argument', issues);
}

/** Returns the failure of arguments for a view without a validator of arguments, which would be ignored. */
export function needlessArgs(): Problem {
  const message = 'The view has no arguments. Read it without any, or define it with `args`';
  return invalidArgs(message, [{ path: [], message }]);
}

function invalidArgs(detail: string, issues: readonly CallIssue[], cause?: unknown): Problem {
  return new Problem('invalid-args', detail, { cause, extensions: { issues } });
}
