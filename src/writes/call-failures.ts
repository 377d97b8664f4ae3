import type { StandardSchemaV1 } from '@standard-schema/spec';
import { MutatorError, Problem, type ProblemCode } from '../errors.js';
import { toIssues } from '../registry/issues.js';
import { InvalidArgsError, UnknownMutatorError } from '../registry/prepare.js';

/**
 * Turns the permanent failure of a call into a Problem for its caller. Unknown errors reveal nothing.
 *
 * @param args the args as they were sent
 * @param index the call's index in its batch; undefined for a single call
 */
export function toCallProblem(error: unknown, args: unknown, index?: number): Problem {
  const problem = describe(error, args);
  if (index === undefined) return problem;
  const { code, message, status, headers, extensions, cause } = problem;
  return new Problem(code, `Call ${index}: ${message}`, {
    status,
    headers,
    cause,
    extensions: { ...extensions, index },
  });
}

/** The code of the Problem that `toCallProblem` makes. */
export function callFailureCode(error: unknown): ProblemCode {
  return classify(error).code;
}

/** The text for the user, as `toCallProblem` gives it, if the mutator has refused on purpose. */
export function callFailureDetail(error: unknown): string | undefined {
  const failure = classify(error);
  if (failure instanceof Problem) return failure.message;
  return failure.code === 'mutator-error' ? String(failure.refusal.message) : undefined;
}

/** What kind of failure it is, and what its Problem is made from. */
type Failure =
  | Problem
  | { readonly code: 'unknown-mutator' }
  | { readonly code: 'invalid-args'; readonly issues: readonly StandardSchemaV1.Issue[] }
  | { readonly code: 'internal'; readonly detail: string }
  | { readonly code: 'mutator-error'; readonly refusal: Refusal };

function classify(error: unknown): Failure {
  if (error instanceof Problem) return error;
  if (error instanceof UnknownMutatorError) return { code: 'unknown-mutator' };
  const issues = error instanceof InvalidArgsError ? error.issues : zeroIssues(error);
  if (issues !== undefined) return { code: 'invalid-args', issues };
  const refusal = findRefusal(error);
  if (refusal === undefined) {
    return { code: 'internal', detail: 'The mutator failed; the log has the cause under the request ID' };
  }
  if (!isJSON(refusal.details)) {
    return { code: 'internal', detail: 'The mutator refused with details that are not JSON' };
  }
  return { code: 'mutator-error', refusal };
}

function describe(error: unknown, args: unknown): Problem {
  const failure = classify(error);
  if (failure instanceof Problem) return failure;
  switch (failure.code) {
    case 'unknown-mutator':
      return new Problem(failure.code, 'No mutator has this name');
    case 'invalid-args':
      return new Problem(failure.code, 'The arguments are not valid', {
        extensions: { issues: toIssues(failure.issues, args) },
      });
    case 'internal':
      return new Problem(failure.code, failure.detail, { cause: error });
    case 'mutator-error': {
      const { message, status, details } = failure.refusal;
      return new Problem(failure.code, message, {
        status,
        cause: error,
        extensions: details === undefined ? undefined : { details },
      });
    }
  }
}

interface Refusal {
  readonly message: string;
  readonly status: number;
  readonly details: unknown;
}

/** A refusal on purpose. Mutators of Zero refuse with its `ApplicationError`. */
function findRefusal(error: unknown): Refusal | undefined {
  if (error instanceof MutatorError) return error;
  if (!(error instanceof Error) || error.name !== 'ApplicationError') return undefined;
  return { message: error.message, status: 400, details: 'details' in error ? error.details : undefined };
}

/** The issues in an error of Zero's own validation: Zero's mutators validate their args themselves. */
function zeroIssues(error: unknown): readonly StandardSchemaV1.Issue[] | undefined {
  if (!(error instanceof Error) || error.name !== 'InputValidationError' || !('result' in error)) return undefined;
  const { issues } = error.result as StandardSchemaV1.FailureResult;
  return Array.isArray(issues) ? issues : undefined;
}

function isJSON(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}
