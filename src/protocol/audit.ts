/** What the cookie of a sampled client says about the data that the client should hold. */
import { createHmac } from 'node:crypto';
import { type Checksum, decodeChecksum, encodeChecksum } from './checksum.js';
import { parseSnapshot, type Snapshot } from './snapshot.js';

/** What a sampled client should hold. */
export interface Audit {
  /** The number of deltas since the data was last known to be right. */
  readonly deltas: number;
  /** The snapshot as of which the data was last known to be right. */
  readonly since: Snapshot;
  /** One for each view, in the order of the views. */
  readonly checksums: readonly Checksum[];
}

/** Encodes an audit as text for a cookie. */
export function encodeAudit({ deltas, since, checksums }: Audit): string {
  return [deltas, since.text, ...checksums.map(encodeChecksum)].join(' ');
}

/** @param text from `encodeAudit` */
export function decodeAudit(text: string): Audit {
  const [deltas, since, ...checksums] = text.split(' ');
  return { deltas: Number(deltas), since: parseSnapshot(since!)!, checksums: checksums.map(decodeChecksum) };
}

/** A number of at least 0 and below 1. It is always the same for a client group, and clients cannot choose it. */
export function sampleOf(clientGroupID: string, secret: string): number {
  return createHmac('sha256', secret).update(`audit ${clientGroupID}`).digest().readUInt32BE() / 2 ** 32;
}
