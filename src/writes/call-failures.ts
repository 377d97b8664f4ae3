import type { StandardSchemaV1 } from '@standard-schema/spec';
import { isConflict, isOfWrittenValues } from '../db/sqlstate.js';
import { type MapError, MutatorError, Problem, type ProblemCode } from '../errors.js';
import { toIssues } from '../registry/issues.js';
import { InvalidArgsError, UnknownMutatorError } from '../registry/prepare.js';

/**
 * Turns the permanent failure of a call into a Problem for its caller. Unknown errors reveal nothing.
 *
 * @param mapError says what the application's own errors mean
 * @param args the args as they were sent
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

/** A failure in short: `toCallProblem` would make a Problem of this code. */
export interface CallFailure {
  readonly code: ProblemCode;
  /** The text for the user; undefined if nobody has written one. */
  readonly detail: string | undefined;
  /** The application refused the call on purpose. */
  readonly isRefusal: boolean;
}

/** @param mapError as for `toCallProblem` */
export function callFailureOf(error: unknown, mapError: MapError | undefined): CallFailure {
  const meant = meaningOf(error, mapError);
  const failure = classify(meant);
  const isMapped = meant !== error && meant instanceof Problem;
  return { code: failure.code, detail: detailOf(failure), isRefusal: meant instanceof MutatorError || isMapped };
}

function detailOf(failure: Failure): string | undefined {
  if (failure instanceof Problem) return failure.message;
  return failure.code === 'mutator-error' ? String(failure.refusal.message) : undefined;
}

/** What an error of the application's own stands for, if it says so; other errors stand for themselves. */
function meaningOf(error: unknown, mapError: MapError | undefined): unknown {
  if (!mapError || isMeant(error)) return error;
  try {
    const mapped = mapError(error);
    if (mapped === undefined) return error;
    if (mapped instanceof Problem || mapped instanceof MutatorError) return mapped;
    throw new TypeError('It must return a MutatorError, a Problem or undefined');
  } catch (cause) {
    return new Error('The option `mapError` failed', { cause });
  }
}

/** Whether an error says by itself what its caller is to be told. */
function isMeant(error: unknown): boolean {
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

/** What kind of failure it is, and what its Problem is made from. */
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
  const meant = meaningOf(error, mapError);
  const failure = classify(meant);
  // Whether the work may run again is found out by the causes.
  const cause = failure.code === 'internal' ? meant : error;
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
