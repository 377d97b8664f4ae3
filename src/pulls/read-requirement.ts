/** Read requirements: what a standby must have replayed so that its answer is as good as the primary's. */
import type { CookieMeaning } from '../protocol/cookie.js';
import { hasSeen, type Snapshot } from '../protocol/snapshot.js';
import type { DatabaseState } from '../store/observation.js';
import { type ResetReason, showsAllOf } from './plan.js';

/** A pull's requirement on a standby, which must also show everything that the cookie has seen. */
export interface ReadRequirement {
  /** A snapshot of the primary. The standby must show everything that it has seen. */
  readonly since: CookieMeaning | undefined;
  /** The primary's timeline, which the standby must have reached. Undefined if it does not matter, null if unknown. */
  readonly timeline: string | null | undefined;
  /** Other transactions that the standby must show. */
  readonly xids: readonly bigint[];
  /** Returns true if the views and tables on the primary have this digest. */
  readonly confirms: (viewsDigest: string) => Promise<boolean>;
}

/** @param base the snapshot of the cookie, if there is a usable one */
export type RequirementOf = (base: Snapshot | undefined) => ReadRequirement;

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

/** Reasons that depend only on how much has changed. For others, the standby may have yet to replay what matters. */
const certain: ReadonlySet<ResetReason> = new Set(['size', 'horizon', 'truncate', 'inconsistent']);

/** True if a standby is allowed to reset a client. */
export async function mayReset(
  reason: ResetReason,
  viewsDigest: string,
  { confirms }: ReadRequirement,
): Promise<boolean> {
  return certain.has(reason) || (reason === 'views' && (await confirms(viewsDigest)));
}
