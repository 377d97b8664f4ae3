/** Determines if pulls can read from a standby. Pure. */
import type { DatabaseWalPosition } from '../store/wal-position.js';

/**
 * `unreachable`: it does not answer. `lagging`: its lag exceeds the limit. `primary`: it is not a standby, or has been
 * promoted. `foreign`: it follows another primary. `unknown`: it does not report what it has replayed.
 */
export type ReplicaHealth = 'healthy' | 'unreachable' | 'lagging' | 'primary' | 'foreign' | 'unknown';

/** Lag limits, in milliseconds: from the first on, a standby is no longer used; below the second, it is used again. */
const maxLagMs = 5_000;
const resumeLagMs = 1_000;

/** The result of a standby's health check. */
export interface HealthCheck {
  readonly health: ReplicaHealth;
  /** For how long it has been behind the primary; undefined if that is unknown. */
  readonly lagMs: number | undefined;
}

/**
 * @param position the standby's WAL position; undefined if it does not answer
 * @param cluster the system identifier of the primary
 * @param lagOf returns the lag of a position, in milliseconds
 */
export function checkHealth(
  position: DatabaseWalPosition | undefined,
  previous: ReplicaHealth,
  cluster: string,
  lagOf: (replayed: bigint) => number,
): HealthCheck {
  const withoutLag = (health: ReplicaHealth): HealthCheck => ({ health, lagMs: undefined });
  if (!position) return withoutLag('unreachable');
  if (position.systemIdentifier !== cluster) return withoutLag('foreign');
  if (!position.isStandby) return withoutLag('primary');
  if (position.position === null) return withoutLag('unknown');
  const lagMs = lagOf(position.position);
  return { health: lagMs < (previous === 'healthy' ? maxLagMs : resumeLagMs) ? 'healthy' : 'lagging', lagMs };
}
