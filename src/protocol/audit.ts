/** What the cookie of a sampled client says of the data that the client should hold. */
import { createHmac } from 'node:crypto';
import { type Checksum, decodeChecksum, encodeChecksum } from './checksum.js';
import { parseSnapshot, type Snapshot } from './snapshot.js';

export interface Audit {
  /** How many deltas there have been since the data was last seen to be right. */
  readonly deltas: number;
  /** When that was. */
  readonly since: Snapshot;
  /** One for each view, in the order of the views. */
  readonly checksums: readonly Checksum[];
}

export function encodeAudit({ deltas, since, checksums }: Audit): string {
  return [deltas, since.text, ...checksums.map(encodeChecksum)].join(' ');
}

/** @param text from `encodeAudit` */
export function decodeAudit(text: string): Audit {
  const [deltas, since, ...checksums] = text.split(' ');
  return { deltas: Number(deltas), since: parseSnapshot(since!)!, checksums: checksums.map(decodeChecksum) };
}

/** A number from 0 up to 1 that is always the same for a client group, and that no client can choose. */
export function sampleOf(clientGroupID: string, secret: string): number {
  return createHmac('sha256', secret).update(`audit ${clientGroupID}`).digest().readUInt32BE() / 2 ** 32;
}
