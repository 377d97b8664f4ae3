import { type CallRequest, encodeAnswer } from '../protocol/calls.js';
import type { MutatorDocs } from './mutators.js';
import { InvalidArgsError, validate } from './prepare.js';

/** A mutator returned a value that its `result` schema refuses. */
export class UnexpectedResultError extends Error {
  override readonly name = 'UnexpectedResultError';
}

/**
 * Returns a mutator's result as its caller receives it. With a schema, this is the schema's output. Without one, it is
 * undefined for instances of classes, so that an arrow function that happens to return a driver's result does not leak
 * it.
 *
 * @throws UnexpectedResultError if the schema refuses the result
 */
async function resultFor({ result: schema }: MutatorDocs, result: unknown): Promise<unknown> {
  if (schema === undefined) return isPlain(result) ? result : undefined;
  return validate(schema, result).catch((error: unknown) => {
    if (!(error instanceof InvalidArgsError)) throw error;
    throw new UnexpectedResultError('the result does not match its schema', { cause: error });
  });
}

/**
 * Returns the JSON text of a mutator's result for its caller; undefined if JSON has no such value.
 * @throws as `resultFor`; TypeError if JSON cannot express the result
 */
export async function encodeResult(docs: MutatorDocs, result: unknown): Promise<string | undefined> {
  return JSON.stringify(await resultFor(docs, result));
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || prototype === Array.prototype || 'toJSON' in value;
}

/** How the results of calls become the answer to their request. */
export interface AnswerFormat<One, Answer> {
  /** Runs in the transaction, so that a result that cannot be answered rolls it back. */
  one(docs: MutatorDocs, result: unknown): Promise<One>;
  all(ones: readonly One[]): Answer;
}

/** For code of the server: the results as values, one for each call. */
export const asValues: AnswerFormat<unknown, readonly unknown[]> = { one: resultFor, all: (results) => results };

/** For REST callers: JSON text, an object for a call, an array for a batch. */
export function asText({ kind }: CallRequest, rollback: boolean): AnswerFormat<string, string> {
  return {
    one: async (docs, result) => encodeAnswer(await encodeResult(docs, result), rollback),
    all: (answers) => (kind === 'call' ? answers[0]! : `[${answers.join()}]`),
  };
}
