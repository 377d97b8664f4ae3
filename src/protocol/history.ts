/** The timelines of a database, and whether they include what a cookie has seen. Pure. */

/** A timeline of the write-ahead log, as the database remembers it. */
export interface Timeline {
  /** Random. Two standbys that are both promoted give their timelines the same number. */
  readonly id: string;
  /**
   * All of the timeline before is included up to this position in it, in bytes: where they part, or earlier. Null if no
   * such position is known.
   */
  readonly since: bigint | null;
}

/** The history of a database, as one statement shows it. */
export interface History {
  /** From the oldest on. Each goes on from the one before. */
  readonly timelines: readonly Timeline[];
  /**
   * The one that the database is on: the last. Null if a primary has begun another, and nobody has recorded it yet; or if a
   * standby does not show any.
   */
  readonly current: string | null;
  /** Everything that the statement shows is in the write-ahead log before this position, in bytes. */
  readonly lsn: bigint;
}

/** A position in the write-ahead log of one timeline. */
export interface Position {
  readonly timeline: string;
  /** In bytes from the beginning of the log. */
  readonly lsn: bigint;
}

const form = /^(?<timeline>\w{1,32})\/(?<lsn>\d{1,20})$/;

/** The form in cookies. */
export function positionText({ timeline, lsn }: Position): string {
  return `${timeline}/${lsn}`;
}

/** @returns undefined if the text is no position */
export function parsePosition(text: string): Position | undefined {
  const { timeline, lsn } = form.exec(text)?.groups ?? {};
  return timeline === undefined ? undefined : { timeline, lsn: BigInt(lsn!) };
}

/**
 * How a position lies to a history: on its `newest` timeline; on an older one, where it is `included`, or where it is
 * not known to be (`lost`); or on a timeline that is `unknown`.
 *
 * Only the switch away from the position's own timeline matters: what was included then still is after any number of
 * other switches.
 */
export type Standing = 'newest' | 'included' | 'lost' | 'unknown';

export function standingOf({ timeline, lsn }: Position, { timelines }: Pick<History, 'timelines'>): Standing {
  const at = timelines.findIndex(({ id }) => id === timeline);
  if (at < 0) return 'unknown';
  const next = timelines[at + 1];
  if (!next) return 'newest';
  return next.since !== null && lsn <= next.since ? 'included' : 'lost';
}
