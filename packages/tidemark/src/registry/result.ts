import type { MutatorDocs } from './mutators.js';
import { InvalidArgsError, validate } from './prepare.js';

/** A mutator returned a value that its `result` schema refuses. */
export class UnexpectedResultError extends Error {
  override readonly name = 'UnexpectedResultError';
}

/**
 * Returns the JSON text of a mutator's result; undefined if JSON has no such value. With a schema, encodes the schema's
 * output. Without one, omits instances of classes, so that an arrow function that happens to return a driver's result
 * does not leak it.
 *
 * @throws UnexpectedResultError if the schema refuses the result; TypeError if JSON cannot express it
 */
export async function encodeResult({ result: schema }: MutatorDocs, result: unknown): Promise<string | undefined> {
  if (schema === undefined) return isPlain(result) ? JSON.stringify(result) : undefined;
  const valid = await validate(schema, result).catch((error: unknown) => {
    if (!(error instanceof InvalidArgsError)) throw error;
    throw new UnexpectedResultError('the result does not match its schema', { cause: error });
  });
  return JSON.stringify(valid);
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || prototype === Array.prototype || 'toJSON' in value;
}
