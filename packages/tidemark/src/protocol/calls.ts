import { createHash } from 'node:crypto';
import { Problem } from '../errors.js';
import { field, malformed, readObject } from './fields.js';

/** A REST call: a mutator's dotted name, and the args. */
export interface Call {
  readonly name: string;
  /** Undefined if the body was empty or the entry of the batch has no args. */
  readonly args: unknown;
}

/** The calls of a request: one call, or a batch. */
export type CallRequest =
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'batch'; readonly calls: readonly Call[] };

/** The maximum number of calls in a batch. One transaction stays open for all of them. */
export const maxBatchLength = 1_000;

/**
 * Decodes the entries of a batch.
 * @throws Problem `malformed-request`
 */
export function decodeBatch(entries: readonly unknown[]): Call[] {
  if (entries.length > maxBatchLength) {
    throw new Problem('malformed-request', `A batch must have at most ${maxBatchLength} calls`);
  }
  return entries.map((entry, i) => {
    const call = readObject(entry, `entry ${i}`);
    const name = field(call, 'name');
    if (typeof name !== 'string') throw malformed(`name of entry ${i}`, 'a string');
    return { name, args: field(call, 'args') };
  });
}

/**
 * Encodes the response to one call as JSON text.
 * @param result JSON text; undefined if the mutator returned no value
 */
export function encodeAnswer(result: string | undefined, rolledBack: boolean): string {
  const parts = [
    '"ok":true',
    ...(rolledBack ? ['"rolledBack":true'] : []),
    ...(result === undefined ? [] : [`"result":${result}`]),
  ];
  return `{${parts.join()}}`;
}

/** Returns a digest of the mutator names and args. The order of keys in objects does not affect it. */
export function callFingerprint(request: CallRequest): string {
  const sorted = (_key: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return createHash('sha256')
    .update(JSON.stringify(request.kind === 'call' ? request.call : request.calls, sorted))
    .digest('base64url');
}
