import { isOfPrivileges, isTransient } from '../db/sqlstate.js';
import { catalogue, Problem, type ProblemCode, problemType, SetupError } from '../errors.js';
import { describeError, type Logger } from '../log.js';

/** Turns any thrown value into a Problem for the caller. A Problem for an unknown error reveals nothing. */
export function toProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  const [code, detail] = meaningOf(thrown);
  return new Problem(code, detail, { cause: thrown });
}

/** Turns a request's failure into a Problem for the caller, and logs a failure that the caller cannot fix. */
export function toLoggedProblem(thrown: unknown, log: Logger): Problem {
  const problem = toProblem(thrown);
  const { status, code, message: detail, cause } = problem;
  if (status < 500) return problem;
  const level = code === 'internal' ? 'error' : 'warn';
  log[level]({ code, detail, ...(cause !== undefined && { error: describeError(cause) }) }, 'A request failed');
  return problem;
}

function meaningOf(thrown: unknown): [code: ProblemCode, detail: string] {
  // If a mutator itself lacks a privilege, the code that runs it explains the error.
  if (thrown instanceof SetupError || isOfPrivileges(thrown)) {
    return ['unavailable', 'The server is not set up correctly; its log says why'];
  }
  if (isTransient(thrown)) return ['unavailable', 'The database cannot serve the request now; try again later'];
  return ['internal', 'The server failed; its log has the cause under the request ID'];
}

/**
 * Returns the body of an error response. `error` repeats `detail` for clients that look for that name.
 * @see https://www.rfc-editor.org/rfc/rfc9457
 */
export function problemBody(problem: Problem, requestID: string): string {
  return JSON.stringify({
    type: problemType(problem.code),
    title: catalogue[problem.code].title,
    status: problem.status,
    detail: problem.message,
    error: problem.message,
    code: problem.code,
    requestID,
    ...problem.extensions,
  });
}
