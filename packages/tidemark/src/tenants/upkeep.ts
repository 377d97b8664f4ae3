/** Decides when each tenant's upkeep runs. Pure. */

/** A tenant that is open or being opened. */
export interface UpkeepTarget {
  /** The start of its last upkeep in milliseconds, if it has been used since; otherwise undefined. */
  readonly neglectedSince: number | undefined;
}

const everyMs = 60_000;
/** Spreads the upkeep of tenants that were opened together, which would otherwise always run at the same time. */
const batchCount = 60;

/** A tenant whose upkeep is due, and the milliseconds until its start. */
export interface DueUpkeep<T extends UpkeepTarget> {
  readonly tenant: T;
  readonly inMs: number;
}

/**
 * Returns the tenants whose upkeep starts within the next second, for a caller that runs once a second. Picks those
 * that have waited longest, and only a part of all. Each upkeep may need a new connection, so starts are spread over
 * the second. Several at the same time would keep a database server that the tenants share from other work.
 */
export function dueForUpkeep<T extends UpkeepTarget>(openTenants: Iterable<T>, now: number): DueUpkeep<T>[] {
  const all = [...openTenants];
  const since = ({ neglectedSince = Number.POSITIVE_INFINITY }: T) => neglectedSince;
  return all
    .filter((tenant) => now - since(tenant) >= everyMs)
    .sort((tenant, other) => since(tenant) - since(other))
    .slice(0, Math.ceil(all.length / batchCount))
    .map((tenant, i, { length }) => ({ tenant, inMs: (1_000 * i) / length }));
}
