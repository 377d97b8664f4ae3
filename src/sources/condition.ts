/** Whether a standby can be read from. Pure. */
import type { Position } from '../store/positions.js';

/**
 * `gone`: it does not answer. `late`: it lags beyond the bound. `primary`: it is none, or has been promoted. `foreign`: it
 * follows another primary. `silent`: it does not say how far it is.
 */
export type Condition = 'used' | 'gone' | 'late' | 'primary' | 'foreign' | 'silent';

/** A standby that is used may lag this much, in milliseconds; one that is not is used again once it lags less. */
const mostLagMs = 5_000;
const leastLagMs = 1_000;

/** A standby, as it was found. */
export interface Found {
  readonly condition: Condition;
  /** How long it has not shown everything; undefined if that is not known. */
  readonly lagMs: number | undefined;
}

/**
 * @param position what the standby says; undefined if it does not answer
 * @param cluster the system identifier of the primary
 * @param lagOf says how far behind a position is, in milliseconds
 */
export function find(
  position: Position | undefined,
  was: Condition,
  cluster: string,
  lagOf: (replayed: bigint) => number,
): Found {
  const without = (condition: Condition): Found => ({ condition, lagMs: undefined });
  if (!position) return without('gone');
  if (position.systemIdentifier !== cluster) return without('foreign');
  if (!position.isStandby) return without('primary');
  if (position.position === null) return without('silent');
  const lagMs = lagOf(position.position);
  return { condition: lagMs < (was === 'used' ? mostLagMs : leastLagMs) ? 'used' : 'late', lagMs };
}
