/** Snapshots: the transactions that a reader of the database has seen. */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Problem } from '../errors.js';

/** A range of transaction IDs, inclusive at both ends. */
export type Range = readonly [first: bigint, last: bigint];

/** The transactions that a reader of the database has seen. */
export interface Snapshot {
  /** The text in cookies. */
  readonly text: string;
  /** The reader has seen every transaction below this ID. */
  readonly xmin: bigint;
  /** The reader has seen no transaction from this ID on. */
  readonly xmax: bigint;
  /** The transactions between xmin and xmax that the reader has not seen, in ascending order. */
  readonly unseen: readonly Range[];
}

const lastXid = 2n ** 63n - 1n;

/** A snapshot that has seen every possible transaction. */
export const allSeen: Snapshot = { text: `${lastXid}:${lastXid}:`, xmin: lastXid, xmax: lastXid, unseen: [] };

/**
 * Postgres's own format `xmin:xmax:xip,xip,…`, which lists the transactions in progress; or, for a standby's snapshot,
 * `xmin:xmax:~` and a packed list of the transactions that it may not have seen.
 */
const snapshotPattern = /^(\d{1,19}):(\d{1,19}):(?:~([\w-]+)|((?:\d{1,19}(?:,\d{1,19})*)?))$/;

/** @returns undefined if the text is not a snapshot. */
export function parseSnapshot(text: string): Snapshot | undefined {
  const match = snapshotPattern.exec(text);
  if (!match) return undefined;
  const [, low, high, packed, xip] = match;
  const xmin = BigInt(low!);
  const xmax = BigInt(high!);
  if (packed === undefined) {
    const unseen = xip ? xip.split(',').map((xid): Range => [BigInt(xid), BigInt(xid)]) : [];
    return { text, xmin, xmax, unseen };
  }
  const unseen = unpack(xmin, packed);
  return unseen && { text, xmin, xmax, unseen };
}

/** @returns undefined if the text is not a transaction ID. */
export function parseXid(text: string): bigint | undefined {
  return /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
}

/**
 * Builds a standby's snapshot. Postgres does not report which transactions a standby considers in progress. So a
 * transaction counts as seen only if the primary had seen it, or if a row that it wrote is visible.
 *
 * @param bounds the standby snapshot's xmin and xmax, from Postgres
 * @param primary a snapshot of the primary, all of which the standby's has seen
 * @param seen the transactions that only the standby's has seen, in ascending order, from xmin up
 */
export function standbySnapshot({ xmin, xmax }: Snapshot, primary: Snapshot, seen: readonly bigint[]): Snapshot {
  const unseen: Range[] = [];
  let next = 0;
  for (const [first, last] of [...primary.unseen, [primary.xmax, xmax - 1n] as const]) {
    let from = first < xmin ? xmin : first;
    for (; next < seen.length && seen[next]! <= last; next++) {
      if (from < seen[next]!) unseen.push([from, seen[next]! - 1n]);
      from = seen[next]! + 1n;
    }
    if (from <= last) unseen.push([from, last]);
  }
  const rest = unseen.length === 0 ? '' : `~${pack(xmin, unseen)}`;
  return { text: `${xmin}:${xmax}:${rest}`, xmin, xmax, unseen };
}

/**
 * Limits a snapshot of a primary to what it has seen permanently: nothing from `end` on. A transaction from `end` on
 * that has ended has left nothing, and after a crash of the database another transaction may get its ID.
 */
export function upTo(end: bigint, snapshot: Snapshot): Snapshot {
  const { xmin, xmax, unseen } = snapshot;
  if (end >= xmax) return snapshot;
  const left = unseen.filter(([first]) => first < end);
  const low = xmin < end ? xmin : end;
  return { text: `${low}:${end}:${left.map(([first]) => first).join()}`, xmin: low, xmax: end, unseen: left };
}

/** The snapshot of a statement, as the statement reports it. */
export interface SnapshotFields {
  readonly snapshot: string;
  /** Null on a primary. */
  readonly standby: { readonly primary: string; readonly seen: readonly string[] | null } | null;
}

/**
 * Reads the snapshot of a statement.
 * @throws Problem if a standby has seen more transactions than it can list.
 */
export function readSnapshot({ snapshot, standby }: SnapshotFields): Snapshot {
  const bounds = parseSnapshot(snapshot)!;
  if (standby === null) return bounds;
  if (standby.seen === null) {
    throw new Problem(
      'unavailable',
      'The database is a standby and cannot tell what it shows: too much has happened during a long transaction on its primary; ask a server on the primary',
    );
  }
  return standbySnapshot(bounds, parseSnapshot(standby.primary)!, standby.seen.map(BigInt));
}

/**
 * Encodes the lengths of alternating runs of transactions, from xmin up: seen, unseen, seen, and so on. Deflates the
 * list, and encodes it in base64url.
 */
function pack(xmin: bigint, unseen: readonly Range[]): string {
  const lengths: bigint[] = [];
  let from = xmin;
  for (const [first, last] of unseen) {
    lengths.push(first - from, last - first + 1n);
    from = last + 1n;
  }
  return deflateRawSync(lengths.join()).toString('base64url');
}

/** In bytes, more than any list of lengths that `pack` encodes. */
const maxUnpackedBytes = 4 * 1024 * 1024;

function unpack(xmin: bigint, packed: string): Range[] | undefined {
  let lengths: bigint[];
  try {
    const list = inflateRawSync(Buffer.from(packed, 'base64url'), { maxOutputLength: maxUnpackedBytes });
    lengths = list.toString().split(',').map(BigInt);
  } catch {
    return undefined;
  }
  const unseen: Range[] = [];
  let from = xmin;
  for (const [i, length] of lengths.entries()) {
    if (i % 2 === 1) unseen.push([from, from + length - 1n]);
    from += length;
  }
  return unseen;
}

/** The highest possible transaction ID. */
const highestXid = 2n ** 64n - 1n;

/** Returns the transactions that a snapshot has not seen, as ranges. The bounds are Postgres array literals. */
export function unseenRanges({ xmax, unseen }: Snapshot): { lows: string; highs: string } {
  const ranges: readonly Range[] = [[xmax, highestXid], ...unseen];
  return { lows: `{${ranges.map(([first]) => first).join()}}`, highs: `{${ranges.map(([, last]) => last).join()}}` };
}

/**
 * Returns a snapshot that has seen what `newest` has seen, except for some transactions.
 * @param xids in ascending order; `newest` has seen them
 */
export function without(newest: Snapshot, xids: readonly bigint[]): Snapshot {
  if (xids.length === 0) return newest;
  const { text, xmax, unseen } = newest;
  const ranges = [...unseen, ...xids.map((xid): Range => [xid, xid])].sort(([a], [b]) => (a < b ? -1 : 1));
  return { text: `${text} without ${xids.join()}`, xmin: ranges[0]![0], xmax, unseen: ranges };
}

/** True if a snapshot has seen a transaction. */
export function hasSeen({ xmin, xmax, unseen }: Snapshot, xid: bigint): boolean {
  if (xid < xmin) return true;
  return xid < xmax && !unseen.some(([first, last]) => first <= xid && xid <= last);
}

/** True if `one` has seen every transaction that `other` has seen. */
export function covers(one: Snapshot, other: Snapshot): boolean {
  if (one.xmin >= other.xmax || one.text === other.text) return true;
  const otherUnseen: readonly Range[] = [...other.unseen, [other.xmax, highestXid]];
  let i = 0;
  return [...one.unseen, [one.xmax, highestXid] as const].every(([first, last]) => {
    for (let from = first; from <= last; from = otherUnseen[i]![1] + 1n) {
      while (otherUnseen[i]![1] < from) i++;
      if (otherUnseen[i]![0] > from) return false;
    }
    return true;
  });
}

/**
 * Returns the number of transactions that a snapshot has seen. If one snapshot covers another, its number is not lower.
 * On one primary, the number rises whenever there could be anything new, because a commit removes a transaction from
 * those in progress or raises xmax above it.
 */
export function finishedTransactions({ xmax, unseen }: Snapshot): bigint {
  return unseen.reduce((finished, [first, last]) => finished - (last - first + 1n), xmax);
}
