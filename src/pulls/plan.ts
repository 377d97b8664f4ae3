/** What to answer to a pull. Pure: the cookie and what the database says, in; the answer's kind, out. */
import type { OpenedCookie } from '../protocol/cookie.js';
import { covers as coversSnapshot } from '../protocol/snapshot.js';
import { countedRows, type Header } from '../store/header.js';

export type Plan =
  /** Nothing has changed for this client: the identical cookie and an empty patch. */
  | { readonly kind: 'unchanged' }
  /**
   * It is not certain that the database, at this moment, shows all that the client has been shown: the identical cookie
   * and an empty patch, whatever there is to tell. What is told would take away some of it, and a new cookie would not
   * say that it is there.
   */
  | { readonly kind: 'behind' }
  /** Ops for what changed in these tables; none when only mutation IDs moved, or the cookie is to be renewed. */
  | { readonly kind: 'delta'; readonly tables: readonly number[] }
  /** All data after a `clear`: the cookie's state cannot be compared with today's. */
  | { readonly kind: 'reset'; readonly reason: ResetReason }
  /**
   * The database has lost mutations that this group was told of, as a restore does. A lower lastMutationID is an error
   * that the client would meet for ever, so it is to start over as another group. That one brings the same cookie, but
   * is not the group it names.
   */
  | { readonly kind: 'lost' };

export type ResetReason = 'cookie' | 'views' | 'epoch' | 'future' | 'horizon' | 'truncate' | 'failure' | 'audit';

/** What a cookie is measured against. */
export interface Present {
  readonly header: Header;
  readonly clientGroupID: string;
  readonly epoch: string;
  readonly views: string;
}

export function planPull(cookie: OpenedCookie, { header, clientGroupID, epoch, views }: Present): Plan {
  const isOneHistory = cookie.epoch === epoch && (header.recovery || header.next >= cookie.parsedNext);
  const isBehind = isOneHistory && !showsAllOf(cookie, header);
  if (cookie.clientGroupID === clientGroupID && header.mutations < cookie.mutations) {
    return { kind: header.recovery || isBehind ? 'behind' : 'lost' };
  }
  if (cookie.views !== views) return { kind: 'reset', reason: 'views' };
  if (cookie.epoch !== epoch) return { kind: 'reset', reason: 'epoch' };
  if (!isOneHistory) return { kind: 'reset', reason: 'future' };
  if (isBehind) return { kind: 'behind' };
  if (cookie.parsedSnapshot.xmin < BigInt(header.horizon)) return { kind: 'reset', reason: 'horizon' };
  if (header.diverged) {
    // Below the xmin of a standby that is not behind lies all that the base had below its own, its tick too.
    const mayBeLate = header.recovery && header.snapshot.xmin < cookie.parsedSnapshot.xmin;
    return mayBeLate ? { kind: 'behind' } : { kind: 'reset', reason: 'epoch' };
  }
  if (header.truncated) return { kind: 'reset', reason: 'truncate' };
  const tables = header.changed.map(([table]) => table);
  if (tables.length === 0 && !isRenewalDue(cookie, header)) return { kind: 'unchanged' };
  return { kind: 'delta', tables };
}

/**
 * Whether the header's snapshot is known to have seen all that the cookie's has.
 *
 * A primary's snapshot says exactly what it has seen. It may be behind a standby's all the same: a commit is often
 * replayed before the primary itself shows it, always where commits wait for standbys.
 *
 * A standby's does not list all that it has seen. But on a standby transactions end in the order of the write-ahead
 * log, and the last one that has ended is next below xmax: once that is one which ended behind all that the cookie's
 * snapshot has seen, all that is there.
 */
function showsAllOf(cookie: OpenedCookie, { snapshot, recovery }: Header): boolean {
  return (recovery && snapshot.xmax > cookie.parsedNext) || coversSnapshot(snapshot, cookie.parsedSnapshot);
}

/** True when an answer prepared for one plan also serves the other, made at a later snapshot. */
export function covers(prepared: Plan, actual: Plan): boolean {
  if (actual.kind === 'unchanged') return true;
  if (actual.kind !== 'delta' || prepared.kind !== 'delta') return false;
  return actual.tables.every((table) => prepared.tables.includes(table));
}

/**
 * Whether an answer without ops has a new cookie all the same: there are mutation IDs to tell; or a client to whom
 * nothing happens would fall behind the horizon, or read more and more of a busy database's log in vain.
 */
export function isRenewalDue(cookie: OpenedCookie, { lastMutationIDs, aging, changed }: Header): boolean {
  const rows = changed.reduce((sum, [, count]) => sum + count, 0);
  return lastMutationIDs !== null || cookie.parsedSnapshot.xmin < BigInt(aging) || rows >= countedRows;
}
