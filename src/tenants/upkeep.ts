/** Which tenants' upkeep is done, and when. Pure. */

/** A tenant that is open, or being opened. */
export interface Kept {
  /** When its upkeep was last begun, if it has been used since; otherwise undefined. In milliseconds. */
  readonly neglectedSince: number | undefined;
}

const everyMs = 60_000;
/** Tenants that were opened together would otherwise all have it done at once, again and again. */
const rounds = 60;

/** Whose upkeep is to be begun, and in how many milliseconds. */
export interface Due<T extends Kept> {
  readonly one: T;
  readonly inMs: number;
}

/**
 * Those whose upkeep is to be begun in the next second, if this is asked once a second: the most neglected ones, and only
 * a part of them. Each may need a new connection, so it is not begun of several at the same moment: that would keep a
 * database server that they share from everything else.
 */
export function dueForUpkeep<T extends Kept>(residents: Iterable<T>, now: number): Due<T>[] {
  const all = [...residents];
  const since = ({ neglectedSince = Number.POSITIVE_INFINITY }: T) => neglectedSince;
  return all
    .filter((one) => now - since(one) >= everyMs)
    .sort((one, other) => since(one) - since(other))
    .slice(0, Math.ceil(all.length / rounds))
    .map((one, i, { length }) => ({ one, inMs: (1_000 * i) / length }));
}
