import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isConflict, isOfWrittenValues, isTransient } from '../../db/sqlstate.js';
import { type MapError, MutatorError, Problem, type ProblemCode, SetupError } from '../../errors.js';
import type { CallRequest } from '../../protocol/calls.js';
import { toIssues } from '../../registry/issues.js';
import { InvalidArgsError, UnknownMutatorError } from '../../registry/prepare.js';

/**
 * Turns a call's permanent failure into a Problem for its caller. Does not disclose details of unknown errors.
 *
 * @param mapError maps the application's own errors to Problems and MutatorErrors
 * @param args the args as sent
 * @param index the call's index in its batch; undefined for a single call
 */
export function toCallProblem(error: unknown, mapError: MapError | undefined, args: unknown, index?: number): Problem {
  const problem = describe(error, mapError, args);
  if (index === undefined) return problem;
  const { code, message, status, headers, extensions, cause } = problem;
  return new Problem(code, `Call ${index}: ${message}`, {
    status,
    headers,
    cause,
    extensions: { ...extensions, index },
  });
}

/**
 * Explains the failure of a call to its caller.
 * @throws Problem if the call fails permanently; SetupErrors and transient failures are rethrown unchanged
 */
export function explained<T>(
  work: Promise<T>,
  mapError: MapError | undefined,
  request: CallRequest,
  index: number,
): Promise<T> {
  return work.catch((error: unknown) => {
    if (isUnexplained(error)) throw error;
    throw request.kind === 'call'
      ? toCallProblem(error, mapError, request.call.args)
      : toCallProblem(error, mapError, request.calls[index]!.args, index);
  });
}

/** True if a failure is unrelated to the call itself. */
export function isUnexplained(error: unknown): boolean {
  return isTransient(error) || error instanceof SetupError;
}

/** A summary of a failure. `toCallProblem` makes a Problem with the same code. */
export interface CallFailure {
  readonly code: ProblemCode;
  /** The message for the user; undefined if the failure has none. */
  readonly detail: string | undefined;
  /** True if the application refused the call deliberately. */
  readonly isRefusal: boolean;
}

/** @param mapError maps the application's own errors to Problems and MutatorErrors */
export function callFailureOf(error: unknown, mapError: MapError | undefined): CallFailure {
  const meaning = meaningOf(error, mapError);
  const failure = classify(meaning);
  const isMapped = meaning !== error && meaning instanceof Problem;
  return { code: failure.code, detail: detailOf(failure), isRefusal: meaning instanceof MutatorError || isMapped };
}

function detailOf(failure: Failure): string | undefined {
  if (failure instanceof Problem) return failure.message;
  return failure.code === 'mutator-error' ? String(failure.refusal.message) : undefined;
}

/** Maps one of the application's own errors. Returns other errors, and those that it does not map, unchanged. */
function meaningOf(error: unknown, mapError: MapError | undefined): unknown {
  if (!mapError || isSelfExplanatory(error)) return error;
  try {
    const mapped = mapError(error);
    if (mapped === undefined) return error;
    if (mapped instanceof Problem || mapped instanceof MutatorError) return mapped;
    throw new TypeError('It must return a MutatorError, a Problem or undefined');
  } catch (cause) {
    return new Error('The option `mapError` failed', { cause });
  }
}

/** True if an error determines the response without `mapError`. */
function isSelfExplanatory(error: unknown): boolean {
  return (
    error instanceof Problem ||
    error instanceof UnknownMutatorError ||
    issuesOf(error) !== undefined ||
    findRefusal(error) !== undefined
  );
}

function issuesOf(error: unknown): readonly StandardSchemaV1.Issue[] | undefined {
  return error instanceof InvalidArgsError ? error.issues : zeroIssues(error);
}

/** The kind of a failure, and the data for its Problem. */
type Failure =
  | Problem
  | { readonly code: 'unknown-mutator' }
  | { readonly code: 'invalid-args'; readonly issues: readonly StandardSchemaV1.Issue[] }
  | { readonly code: 'internal' | 'conflict' | 'invalid-values'; readonly detail: string }
  | { readonly code: 'mutator-error'; readonly refusal: Refusal };

function classify(error: unknown): Failure {
  if (error instanceof Problem) return error;
  if (error instanceof UnknownMutatorError) return { code: 'unknown-mutator' };
  const issues = issuesOf(error);
  if (issues !== undefined) return { code: 'invalid-args', issues };
  const refusal = findRefusal(error);
  if (refusal === undefined) {
    if (isConflict(error)) {
      return { code: 'conflict', detail: 'A value that must be unique is taken, or a row is missing or referred to' };
    }
    if (isOfWrittenValues(error)) {
      return { code: 'invalid-values', detail: 'The database does not accept a value that the mutator wrote' };
    }
    return { code: 'internal', detail: 'The mutator failed; the log has the cause under the request ID' };
  }
  if (!isJSON(refusal.details)) {
    return { code: 'internal', detail: 'The mutator refused with details that are not JSON' };
  }
  return { code: 'mutator-error', refusal };
}

function describe(error: unknown, mapError: MapError | undefined, args: unknown): Problem {
  const meaning = meaningOf(error, mapError);
  const failure = classify(meaning);
  // The chain of causes determines whether the work is retried.
  const cause = failure.code === 'internal' ? meaning : error;
  if (failure === error) return error as Problem;
  if (failure instanceof Problem) {
    const { code, message, status, headers, extensions } = failure;
    return new Problem(code, message, { status, headers, extensions, cause });
  }
  switch (failure.code) {
    case 'unknown-mutator':
      return new Problem(failure.code, 'No mutator has this name');
    case 'invalid-args':
      return new Problem(failure.code, 'The arguments are not valid', {
        extensions: { issues: toIssues(failure.issues, args) },
      });
    case 'conflict':
    case 'invalid-values':
    case 'internal':
      return new Problem(failure.code, failure.detail, { cause });
    case 'mutator-error': {
      const { message, status, details } = failure.refusal;
      return new Problem(failure.code, message, {
        status,
        cause,
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

/** Returns the refusal that an error stands for, if any. Mutators of Zero refuse with its `ApplicationError`. */
function findRefusal(error: unknown): Refusal | undefined {
  if (error instanceof MutatorError) return error;
  if (!(error instanceof Error) || error.name !== 'ApplicationError') return undefined;
  return { message: error.message, status: 400, details: 'details' in error ? error.details : undefined };
}

/** Returns the issues of a Zero validation error. Zero's mutators validate their args themselves. */
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
