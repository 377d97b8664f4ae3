import { isTransient } from '../db/sqlstate.js';
import { Problem, SetupError } from '../errors.js';

/** What a failure of the database, or of what is installed in it, means to a caller. Other errors stay what they are. */
export function toUnavailable(error: unknown): unknown {
  const detail =
    error instanceof SetupError
      ? 'The server is not set up to answer; its log says why'
      : isTransient(error)
        ? 'The database cannot serve the request now; send it again later'
        : undefined;
  if (detail === undefined || error instanceof Problem) return error;
  return new Problem('unavailable', detail, { cause: error });
}
