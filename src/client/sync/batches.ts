import type { PushedMutation } from '#engine';

/** The most that one push carries. */
export interface BatchLimits {
  readonly mutations: number;
  /** In bytes, of UTF-8. */
  readonly bytes: number;
}

/** Below the usual limits of servers and proxies; the client learns lower ones from a 413. */
export const batchLimits: BatchLimits = { mutations: 500, bytes: 512 * 1024 };

/** Some mutations, in their order. */
export interface Batch {
  readonly mutations: readonly PushedMutation[];
  readonly bytes: number;
}

/** The first mutations, as many as the limits allow: at least one. */
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

/** The size of a value as JSON, in bytes. */
export function sizeOf(value: unknown): number {
  const text = JSON.stringify(value) ?? '';
  // Not by a TextEncoder, which older versions of React Native lack. In JSON text, surrogates come in pairs.
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff)) bytes += 2;
    else if (unit >= 0x80) bytes += 1;
  }
  return bytes;
}

/** Half of what was too large. */
export function halfOf({ mutations, bytes }: Batch): BatchLimits {
  return { mutations: Math.ceil(mutations.length / 2), bytes: Math.ceil(bytes / 2) };
}
