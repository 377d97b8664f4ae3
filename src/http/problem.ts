import { isTransient } from '../db/sqlstate.js';
import { catalogue, Problem, SetupError } from '../errors.js';

/** What any thrown value means to the caller. Nothing of an unknown error is shown. */
export function toProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  if (isTransient(thrown)) {
    return new Problem('unavailable', 'The server cannot serve the request now; send it again later', {
      cause: thrown,
      headers: { 'Retry-After': '1' },
    });
  }
  if (thrown instanceof SetupError) {
    return new Problem('unavailable', 'The server is not set up to answer; its log says why.', {
      cause: thrown,
      headers: { 'Retry-After': '1' },
    });
  }
  return new Problem('internal', 'The server failed; its log has the cause under the request ID', { cause: thrown });
}

/** The body of an error response, as of RFC 9457. `error` repeats `detail` for clients that look for that name. */
export function problemBody(problem: Problem, requestID: string): string {
  return JSON.stringify({
    type: `urn:problem-type:tidemark:${problem.code}`,
    title: catalogue[problem.code].title,
    status: problem.status,
    detail: problem.message,
    error: problem.message,
    code: problem.code,
    requestID,
  });
}
