/** What fails because of a view names the view. */
import { SetupError } from '../errors.js';

/** Runs work for a view. @throws what the work throws, see `viewError`. */
export function inView<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw viewError(name, error);
  }
}

/** The same for work that takes time. */
export async function inViewAsync<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw viewError(name, error);
  }
}

/**
 * Failures of the database itself are passed on; an error about the query, from Postgres or Tidemark, names the view.
 */
function viewError(name: string, error: unknown): unknown {
  if (error instanceof SetupError)
    return new SetupError(`The view "${name}" cannot be served: ${error.message}.`, { cause: error.cause });
  if (/^(42|22|0A)/.test(String((error as { code?: unknown }).code))) {
    return new SetupError(`The view "${name}" cannot be served: Postgres says: ${(error as Error).message}.`);
  }
  return error;
}
