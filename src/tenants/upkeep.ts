/** Which tenants' upkeep is done, and when. Pure. */

/** A tenant that is open, or being opened. */
export interface Kept {
  /** When its upkeep was last begun, if it has been used since; otherwise undefined. In milliseconds. */
  readonly neglectedSince: number | undefined;
}

const everyMs = 60_000;
/** Tenants that were opened together would otherwise all have it done at once, again and again. */
const rounds = 60;

/**
 * Those whose upkeep is to be begun now, if this is asked once a second: the most neglected ones, and only a part of them
 * at once.
 */
export function dueForUpkeep<T extends Kept>(residents: Iterable<T>, now: number): T[] {
  const all = [...residents];
  const since = ({ neglectedSince = Number.POSITIVE_INFINITY }: T) => neglectedSince;
  return all
    .filter((one) => now - since(one) >= everyMs)
    .sort((one, other) => since(one) - since(other))
    .slice(0, Math.ceil(all.length / rounds));
}
