/** Which tenants are closed, and when. Pure. */

/** A tenant that is open, or being opened. */
export interface Resident {
  /** Something is under way for it, or somebody listens. */
  readonly isBusy: boolean;
  /** When something was last under way for it, in milliseconds. */
  readonly usedAt: number;
}

/** Those that nothing has been under way for since `idleMs` ago. */
export function idleSince<T extends Resident>(residents: Iterable<T>, now: number, idleMs: number): T[] {
  return [...residents].filter(({ isBusy, usedAt }) => !isBusy && now - usedAt >= idleMs);
}

/** The one that makes room for another: that nothing has been under way for the longest; undefined if all are busy. */
export function leastRecent<T extends Resident>(residents: Iterable<T>): T | undefined {
  let found: T | undefined;
  for (const one of residents) if (!one.isBusy && !(found && found.usedAt <= one.usedAt)) found = one;
  return found;
}
