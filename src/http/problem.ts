import { catalogue, Problem, problemType } from '../errors.js';
import { toUnavailable } from './unavailable.js';

/** What any thrown value means to the caller. Nothing of an unknown error is shown. */
export function toProblem(thrown: unknown): Problem {
  const known = toUnavailable(thrown);
  if (known instanceof Problem) return known;
  return new Problem('internal', 'The server failed; its log has the cause under the request ID', { cause: thrown });
}

/** The body of an error response, as of RFC 9457. `error` repeats `detail` for clients that look for that name. */
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
