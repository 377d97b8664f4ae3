/** A Postgres snapshot in its text form `xmin:xmax:xip,xip,…`: which transactions it has seen. */
export interface Snapshot {
  /** Every transaction below is finished. */
  readonly xmin: bigint;
  /** No transaction from here on has been seen. */
  readonly xmax: bigint;
  /** The transactions between the two that were in progress. */
  readonly xip: readonly bigint[];
}

const lastXid = 2n ** 63n - 1n;

/** A snapshot that has seen every transaction there can be. */
export const allSeen: Snapshot = { xmin: lastXid, xmax: lastXid, xip: [] };

const form = /^(\d{1,19}):(\d{1,19}):((?:\d{1,19}(?:,\d{1,19})*)?)$/;

/** @returns undefined when the text is no snapshot. */
export function parseSnapshot(text: string): Snapshot | undefined {
  const match = form.exec(text);
  if (!match) return undefined;
  const xip = match[3] === '' ? [] : match[3]!.split(',').map(BigInt);
  return { xmin: BigInt(match[1]!), xmax: BigInt(match[2]!), xip };
}

/** The highest transaction ID that there can be. */
const highestXid = 2n ** 64n - 1n;

/** The transactions that a snapshot has not seen, as ranges: the bounds as Postgres array literals. */
export function unseenRanges({ xmax, xip }: Snapshot): { lows: string; highs: string } {
  return { lows: `{${[xmax, ...xip].join()}}`, highs: `{${[highestXid, ...xip].join()}}` };
}

/**
 * The number of transactions that a snapshot has seen the end of. On one primary it never falls, and it rises whenever a
 * snapshot could show anything new: a commit leaves `xip`, or lies below a higher `xmax`.
 */
export function finishedTransactions({ xmax, xip }: Snapshot): bigint {
  return xmax - BigInt(xip.length);
}
