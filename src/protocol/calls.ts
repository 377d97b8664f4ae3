import { createHash } from 'node:crypto';
import { Problem } from '../errors.js';
import { field, malformed, readObject } from './fields.js';

/** A REST call: one mutator, by its name with dots. */
export interface Call {
  readonly name: string;
  /** Undefined if the body was empty, or the batch's entry has no args. */
  readonly args: unknown;
}

/** What a request asks for: one call, or a batch. */
export type Asked =
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'batch'; readonly calls: readonly Call[] };

/** The most calls in a batch: together, they hold one transaction open. */
export const MAX_BATCH_LENGTH = 1_000;

/**
 * Decodes the entries of a batch.
 * @throws Problem `malformed-request`
 */
export function decodeBatch(entries: readonly unknown[]): Call[] {
  if (entries.length > MAX_BATCH_LENGTH) {
    throw new Problem('malformed-request', `A batch must have at most ${MAX_BATCH_LENGTH} calls`);
  }
  return entries.map((entry, i) => {
    const call = readObject(entry, `entry ${i}`);
    const name = field(call, 'name');
    if (typeof name !== 'string') throw malformed(`name of entry ${i}`, 'a string');
    return { name, args: field(call, 'args') };
  });
}

/**
 * Encodes the answer to one call as JSON text.
 * @param result JSON text, if the mutator returned a value
 */
export function encodeAnswer(result: string | undefined, rolledBack: boolean): string {
  const parts = [
    '"ok":true',
    ...(rolledBack ? ['"rolledBack":true'] : []),
    ...(result === undefined ? [] : [`"result":${result}`]),
  ];
  return `{${parts.join()}}`;
}

/** A digest of what was called and with which args. It does not depend on the order of keys in objects. */
export function fingerprintOf(asked: Asked): string {
  const sorted = (_key: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return createHash('sha256')
    .update(JSON.stringify(asked.kind === 'call' ? asked.call : asked.calls, sorted))
    .digest('base64url');
}
