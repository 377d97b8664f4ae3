import { isOfPrivileges, isTransient } from '../db/sqlstate.js';
import { catalogue, Problem, type ProblemCode, problemType, SetupError } from '../errors.js';

/** Turns any thrown value into a Problem for the caller. A Problem for an unknown error reveals nothing. */
export function toProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  const [code, detail] = meaningOf(thrown);
  return new Problem(code, detail, { cause: thrown });
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
