/** The timelines of a database, and whether they include everything that a cookie has seen. Pure. */

/** A timeline of the write-ahead log, as the database has recorded it. */
export interface Timeline {
  /** Random, because two standbys that are both promoted give their timelines the same number. */
  readonly id: string;
  /**
   * A position on the previous timeline, in bytes: the switch point, or an earlier one. This timeline includes
   * everything up to it. Null if no such position is known.
   */
  readonly since: bigint | null;
}

/** The history of a database, as one statement shows it. */
export interface History {
  /** Oldest first. Each continues the previous one. */
  readonly timelines: readonly Timeline[];
  /**
   * The ID of the timeline that the database is on: the last. Null if a primary has begun another that no server has
   * recorded yet, or if a standby does not show any.
   */
  readonly current: string | null;
  /** A position in bytes. In the write-ahead log, everything that the statement shows lies before it. */
  readonly lsn: bigint;
}

/** A position in the write-ahead log of one timeline. */
export interface WalPosition {
  readonly timeline: string;
  /** In bytes from the beginning of the log. */
  readonly lsn: bigint;
}

const walPositionPattern = /^(?<timeline>\w{1,32})\/(?<lsn>\d{1,20})$/;

/** Formats a position for a cookie. */
export function walPositionText({ timeline, lsn }: WalPosition): string {
  return `${timeline}/${lsn}`;
}

/** @returns undefined if the text is not a position */
export function parseWalPosition(text: string): WalPosition | undefined {
  const { timeline, lsn } = walPositionPattern.exec(text)?.groups ?? {};
  return timeline === undefined ? undefined : { timeline, lsn: BigInt(lsn!) };
}

/**
 * The status of a position in a history: on the `newest` timeline; `included` from an older one; `lost` if it is on an
 * older one and not known to be included; or on an `unknown` timeline.
 *
 * Only the switch away from the position's own timeline matters, because later switches keep what that one included.
 */
export type TimelineStatus = 'newest' | 'included' | 'lost' | 'unknown';

export function timelineStatusOf(
  { timeline, lsn }: WalPosition,
  { timelines }: Pick<History, 'timelines'>,
): TimelineStatus {
  const at = timelines.findIndex(({ id }) => id === timeline);
  if (at < 0) return 'unknown';
  const next = timelines[at + 1];
  if (!next) return 'newest';
  return next.since !== null && lsn <= next.since ? 'included' : 'lost';
}
