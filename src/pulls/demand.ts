/** What the answer of a standby must show, so that it is as good as the primary's. */
import type { CookieMeaning } from '../protocol/cookie.js';
import { hasSeen, type Snapshot } from '../protocol/snapshot.js';
import type { SharedHeader } from '../store/header.js';
import { type ResetReason, showsAllOf } from './plan.js';

/** What a pull wants of a standby, besides all that its cookie has seen. */
export interface Demand {
  /** A snapshot of the primary, all of which must be shown. */
  readonly since: CookieMeaning | undefined;
  /** The timeline that it must have come to: the primary's. Undefined if it does not matter, null if it is not known. */
  readonly timeline: string | null | undefined;
  /** Transactions that must be shown, too. */
  readonly xids: readonly bigint[];
  /** Whether the primary has the same views of the same tables as a digest says. */
  readonly confirms: (viewsDigest: string) => Promise<boolean>;
}

/** @param base what the cookie has seen, if there is a usable one */
export type Demanding = (base: Snapshot | undefined) => Demand;

/** Whether a statement's report meets a demand. That of a database that has been promoted meets none. */
export function meets(
  header: Pick<SharedHeader, 'recovery' | 'shown' | 'history'>,
  { since, timeline, xids }: Demand,
): boolean {
  if (!header.recovery || (since && !showsAllOf(since, header))) return false;
  // Otherwise its transaction IDs may be others than the primary's.
  if (timeline === null || (timeline !== undefined && timeline !== header.history.current)) return false;
  return xids.every((xid) => hasSeen(header.shown, xid));
}

/** Those that only say how much has changed. For the others, a standby may not know yet what the primary knows. */
const certain: ReadonlySet<ResetReason> = new Set(['size', 'horizon', 'truncate', 'audit']);

/** Whether a standby may reset a client. */
export async function mayReset(reason: ResetReason, viewsDigest: string, { confirms }: Demand): Promise<boolean> {
  return certain.has(reason) || (reason === 'views' && (await confirms(viewsDigest)));
}
