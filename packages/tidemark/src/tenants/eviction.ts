/** Decides which tenants to close. Pure. */

/** A tenant that is open or being opened. */
export interface OpenTenant {
  /** True if it has work in progress or subscribers. */
  readonly isBusy: boolean;
  /** The time of its last activity, in milliseconds. */
  readonly usedAt: number;
}

/** Returns the tenants that have had no activity for at least `idleMs`. */
export function idleTenants<T extends OpenTenant>(openTenants: Iterable<T>, now: number, idleMs: number): T[] {
  return [...openTenants].filter(({ isBusy, usedAt }) => !isBusy && now - usedAt >= idleMs);
}

/** Returns the least recently used tenant among those that are not busy; undefined if all are busy. */
export function leastRecentlyUsed<T extends OpenTenant>(openTenants: Iterable<T>): T | undefined {
  let candidate: T | undefined;
  for (const tenant of openTenants) {
    if (!tenant.isBusy && !(candidate && candidate.usedAt <= tenant.usedAt)) candidate = tenant;
  }
  return candidate;
}
