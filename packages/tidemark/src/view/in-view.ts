/** Adds the view's name to errors that a view causes. */
import { SetupError } from '../errors.js';

/** Runs a function for a view. @throws the function's errors; see `viewError`. */
export function inView<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw viewError(name, error);
  }
}

/** Runs an async function for a view. @throws the function's errors; see `viewError`. */
export async function inViewAsync<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw viewError(name, error);
  }
}

/** Names the view in errors about its query, from Postgres or Tidemark. Returns all other errors unchanged. */
function viewError(name: string, error: unknown): unknown {
  if (error instanceof SetupError) {
    return new SetupError(`The view "${name}" cannot be served: ${error.message}.`, { cause: error.cause });
  }
  if (/^(42|22|0A)/.test(String((error as { code?: unknown }).code))) {
    return new SetupError(`The view "${name}" cannot be served: Postgres says: ${(error as Error).message}.`);
  }
  return error;
}
