/** What to answer to a pull. Pure: the cookie and what the database says, in; the answer's kind, out. */
import type { OpenedCookie } from '../protocol/cookie.js';
import { parseSnapshot } from '../protocol/snapshot.js';
import { countedRows, type Header } from '../store/header.js';

export type Plan =
  /** Nothing has changed for this client: the identical cookie and an empty patch. */
  | { readonly kind: 'unchanged' }
  /** Ops for what changed in these tables; none when only mutation IDs moved, or the cookie is to be renewed. */
  | { readonly kind: 'delta'; readonly tables: readonly number[] }
  /** All data after a `clear`: the cookie's state cannot be compared with today's. */
  | { readonly kind: 'reset'; readonly reason: ResetReason }
  /**
   * The database has lost mutations that this group was told of, as a restore does. A lower lastMutationID is an error that the client
   * would meet for ever, so it is to start over as another group. That one brings the same cookie, but is not the group it names.
   */
  | { readonly kind: 'lost' };

export type ResetReason = 'cookie' | 'views' | 'epoch' | 'future' | 'horizon' | 'truncate' | 'failure';

/** What a cookie is measured against. */
export interface Present {
  readonly header: Header;
  readonly clientGroupID: string;
  readonly epoch: string;
  readonly views: string;
}

export function planPull(cookie: OpenedCookie, { header, clientGroupID, epoch, views }: Present): Plan {
  const base = cookie.parsedSnapshot;
  const now = parseSnapshot(header.snapshot)!;
  const sameGroup = cookie.clientGroupID === clientGroupID;
  if (sameGroup && header.mutations < cookie.mutations && !header.recovery) return { kind: 'lost' };
  if (cookie.views !== views) return { kind: 'reset', reason: 'views' };
  if (cookie.epoch !== epoch) return { kind: 'reset', reason: 'epoch' };
  if (now.xmax < base.xmax) return header.recovery ? { kind: 'unchanged' } : { kind: 'reset', reason: 'future' };
  if (header.diverged) {
    // Below the xmin of a standby that is not behind lies all that the base had below its own, its tick too.
    return header.recovery && now.xmin < base.xmin ? { kind: 'unchanged' } : { kind: 'reset', reason: 'epoch' };
  }
  if (base.xmin < BigInt(header.horizon)) return { kind: 'reset', reason: 'horizon' };
  if (header.truncated) return { kind: 'reset', reason: 'truncate' };
  const tables = header.changed.map(([table]) => table);
  if (tables.length === 0 && !isRenewalDue(cookie, header)) return { kind: 'unchanged' };
  return { kind: 'delta', tables };
}

/** True when an answer prepared for one plan also serves the other, made at a later snapshot. */
export function covers(prepared: Plan, actual: Plan): boolean {
  if (actual.kind === 'unchanged') return true;
  if (actual.kind !== 'delta' || prepared.kind !== 'delta') return false;
  return actual.tables.every((table) => prepared.tables.includes(table));
}

/**
 * Whether an answer without ops has a new cookie all the same: there are mutation IDs to tell; or a client to whom nothing happens
 * would fall behind the horizon, or read more and more of a busy database's log in vain.
 */
export function isRenewalDue(cookie: OpenedCookie, { lastMutationIDs, aging, changed }: Header): boolean {
  const rows = changed.reduce((sum, [, count]) => sum + count, 0);
  return lastMutationIDs !== null || cookie.parsedSnapshot.xmin < BigInt(aging) || rows >= countedRows;
}
