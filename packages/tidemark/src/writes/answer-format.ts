/** The forms in which callers receive the results of their calls. */
import { type CallRequest, encodeAnswer } from '../protocol/calls.js';
import type { MutatorDocs } from '../registry/mutators.js';
import { encodeResult, resultFor } from '../registry/result.js';

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
