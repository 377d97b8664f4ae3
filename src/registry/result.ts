import type { MutatorDocs } from './mutators.js';
import { InvalidArgsError, validate } from './validate.js';

/** A mutator returned something that its result's schema refuses. */
export class UnexpectedResultError extends Error {
  override readonly name = 'UnexpectedResultError';
}

/**
 * The JSON text of what a mutator returned; undefined when that is no JSON value. With a schema, it is what that makes
 * of the result. Without one, an instance of a class, as a driver's answer that an arrow function happens to return, is
 * left out.
 *
 * @throws UnexpectedResultError; TypeError for what JSON cannot say
 */
export async function encodeResult({ result: schema }: MutatorDocs, result: unknown): Promise<string | undefined> {
  if (schema === undefined) return isPlain(result) ? JSON.stringify(result) : undefined;
  const valid = await validate(schema, result).catch((error: unknown) => {
    if (!(error instanceof InvalidArgsError)) throw error;
    throw new UnexpectedResultError('the result is not what its schema says', { cause: error });
  });
  return JSON.stringify(valid);
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || prototype === Array.prototype || 'toJSON' in value;
}
