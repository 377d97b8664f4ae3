/** Read requirements: what a standby must have replayed so that its answer is as good as the primary's. */
import type { CookieMeaning } from '../../protocol/cookie.js';
import { hasSeen } from '../../protocol/snapshot.js';
import { type DatabaseState, showsAllOf } from '../../store/polls/observation.js';

/** A pull's requirement on a standby, which must also show everything that the cookie has seen. */
export interface ReadRequirement {
  /** A snapshot of the primary. The standby must show everything that it has seen. */
  readonly since: CookieMeaning | undefined;
  /** The primary's timeline, which the standby must have reached. Undefined if it does not matter, null if unknown. */
  readonly timeline: string | null | undefined;
  /** Other transactions that the standby must show. */
  readonly xids: readonly bigint[];
}

/** True if the observed state satisfies a requirement. A promoted database satisfies none. */
export function satisfies(
  state: Pick<DatabaseState, 'recovery' | 'visibleSnapshot' | 'history'>,
  { since, timeline, xids }: ReadRequirement,
): boolean {
  if (!state.recovery || (since && !showsAllOf(since, state))) return false;
  // On another timeline, transaction IDs may differ from the primary's.
  if (timeline === null || (timeline !== undefined && timeline !== state.history.current)) return false;
  return xids.every((xid) => hasSeen(state.visibleSnapshot, xid));
}
