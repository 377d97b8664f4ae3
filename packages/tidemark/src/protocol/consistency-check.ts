/** The consistency check in a sampled client's cookie: checksums of the rows that the client should hold. */
import { createHmac } from 'node:crypto';
import { type Checksum, decodeChecksum, encodeChecksum } from './checksum.js';
import { parseSnapshot, type Snapshot } from './snapshot.js';

/** Checksums of the rows that a sampled client should hold. */
export interface ConsistencyCheck {
  /** The number of deltas since the data was last known to be correct. */
  readonly deltas: number;
  /** The last snapshot at which the data was known to be correct. */
  readonly since: Snapshot;
  /** One per view, in the order of the views. */
  readonly checksums: readonly Checksum[];
}

/** Encodes a consistency check as text for a cookie. */
export function encodeConsistencyCheck({ deltas, since, checksums }: ConsistencyCheck): string {
  return [deltas, since.text, ...checksums.map(encodeChecksum)].join(' ');
}

/** @param text from `encodeConsistencyCheck` */
export function decodeConsistencyCheck(text: string): ConsistencyCheck {
  const [deltas, since, ...checksums] = text.split(' ');
  return { deltas: Number(deltas), since: parseSnapshot(since!)!, checksums: checksums.map(decodeChecksum) };
}

/** Returns a number in [0, 1). It is constant for a client group, and clients cannot choose it. */
export function sampleOf(clientGroupID: string, secret: string): number {
  return createHmac('sha256', secret).update(`consistency check ${clientGroupID}`).digest().readUInt32BE() / 2 ** 32;
}
