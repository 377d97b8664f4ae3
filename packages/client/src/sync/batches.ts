import type { PushedMutation } from '#engine';

/** The limits of one push. */
export interface BatchLimits {
  readonly mutations: number;
  /** The size in bytes, as UTF-8. */
  readonly bytes: number;
}

/** Below the common limits of servers and proxies. After a 413, the client uses lower ones. */
export const batchLimits: BatchLimits = { mutations: 500, bytes: 512 * 1024 };

/** Consecutive mutations, in order. */
export interface Batch {
  readonly mutations: readonly PushedMutation[];
  readonly bytes: number;
}

/** Returns as many of the first mutations as the limits allow, but at least one. */
export function firstBatch(mutations: readonly PushedMutation[], limits: BatchLimits): Batch {
  let bytes = 0;
  let count = 0;
  for (const mutation of mutations) {
    const size = sizeOf(mutation);
    if (count > 0 && (count === limits.mutations || bytes + size > limits.bytes)) break;
    bytes += size;
    count++;
  }
  return { mutations: mutations.slice(0, count), bytes };
}

/** Returns the size of a value as JSON, in bytes. */
export function sizeOf(value: unknown): number {
  const text = JSON.stringify(value) ?? '';
  // Older versions of React Native have no TextEncoder. In JSON text, surrogates come in pairs.
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff)) bytes += 2;
    else if (unit >= 0x80) bytes += 1;
  }
  return bytes;
}

/** Returns half of the size of a batch that was too large. */
export function halfOf({ mutations, bytes }: Batch): BatchLimits {
  return { mutations: Math.ceil(mutations.length / 2), bytes: Math.ceil(bytes / 2) };
}
