import type { StandardSchemaV1 } from '@standard-schema/spec';
import { Problem } from '../../errors.js';
import { unreadable } from '../../protocol/wants.js';
import { toIssues } from '../../registry/issues.js';
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
    const issues = toIssues(error.issues, args);
    throw new Problem('invalid-args', 'The arguments of the view are not valid', { extensions: { issues } });
  }
}

/** Returns the failure of arguments that the view's validator accepts, but Postgres does not. */
export function unreadableArgs(cause: unknown): Problem {
  return new Problem('invalid-args', unreadable, {
    cause,
    extensions: { issues: [{ path: [], message: unreadable }] },
  });
}

/**
 * Returns the failure of arguments that a view does not have.
 * @param known the names of those that it has
 */
export function unknownArgs(names: readonly string[], known: readonly string[]): Problem {
  const message =
    known.length > 0 ? `The view has only these arguments: ${known.join(', ')}` : 'The view has no arguments';
  const issues = names.map((name) => ({ path: [name], message }));
  return new Problem('invalid-args', 'The view has no such argument', { extensions: { issues } });
}

/** Returns the failure of arguments for a view without a validator of arguments, which would be ignored. */
export function needlessArgs(): Problem {
  const message = 'The view has no arguments. Read it without any, or define it with `args`';
  return new Problem('invalid-args', message, { extensions: { issues: [{ path: [], message }] } });
}
