/**
 * Decides how to answer a pull. Pure: it takes the cookie and what the database says, and returns the kind of answer.
 */
import type { CookieMeaning, OpenedCookie } from '../protocol/cookie.js';
import { standingOf } from '../protocol/history.js';
import { covers as coversSnapshot } from '../protocol/snapshot.js';
import { type Header, manyRows } from '../store/header.js';
import type { Altered } from '../store/layouts/alteration.js';
import type { ViewSize } from '../store/sizes.js';

/** How to answer a pull. */
export type Plan =
  /** Nothing has changed for this client: the identical cookie and an empty patch. */
  | { readonly kind: 'unchanged' }
  /**
   * It is not certain that the database, at this moment, shows everything that the client has been shown: the identical
   * cookie and an empty patch, whatever there is to report. A delta could take away part of it, and a new cookie would
   * not say that the rest is there.
   */
  | { readonly kind: 'behind' }
  /**
   * Ops for what has changed in these tables; none if only mutation IDs have changed, or if the cookie is to be
   * renewed.
   */
  | { readonly kind: 'delta'; readonly tables: readonly number[] }
  /** All data after a `clear`: the cookie's state cannot be compared with the current one. */
  | { readonly kind: 'reset'; readonly reason: ResetReason }
  /**
   * The database has lost mutations that this group was told about, as after a restore. A lower lastMutationID is an
   * error that the client would hit on every retry, so the client must start over as another group. The new group sends
   * the same cookie, but is not the group that the cookie names.
   */
  | { readonly kind: 'lost' };

/** Why a client is reset. */
export type ResetReason =
  | 'cookie'
  | 'views'
  | 'epoch'
  | 'future'
  | 'horizon'
  | 'truncate'
  | 'size'
  | 'failure'
  | 'audit';

/** The current state, which a cookie is compared with. */
export interface Present {
  readonly header: Header;
  readonly clientGroupID: string;
  readonly epoch: string;
  readonly views: string;
  /** The tables that have been altered since the cookie was given. */
  readonly altered?: Altered | undefined;
}

/**
 * How a cookie's history lies to the database's: the `same`; one that the database is too early in (`future`); one that
 * a standby may only not have come to yet (`ahead`); or another.
 */
type Relation = 'same' | 'future' | 'ahead' | 'other';

function relationOf({ parsedNext, parsedPosition, parsedSnapshot }: OpenedCookie, header: Header): Relation {
  const { next, recovery, history, snapshot } = header;
  const standing = standingOf(parsedPosition, history);
  if (standing === 'lost') return 'other';
  // The IDs of transactions that have left nothing in the log, or nothing at all, are given out again after a promotion.
  if (standing === 'included') return 'same';
  if (standing === 'newest') return recovery || next >= parsedNext ? 'same' : 'future';
  // Whoever has seen a cookie's timeline begin, and all else below its xmax, would know of that timeline.
  return recovery && snapshot.xmin < parsedSnapshot.xmax ? 'ahead' : 'other';
}

/** Decides how to answer a pull that has a usable cookie. */
export function planPull(cookie: OpenedCookie, { header, clientGroupID, epoch, views, altered }: Present): Plan {
  const relation = cookie.epoch === epoch ? relationOf(cookie, header) : 'other';
  const isBehind = relation === 'ahead' || (relation === 'same' && !showsAllOf(cookie, header));
  if (cookie.clientGroupID === clientGroupID && header.mutations < cookie.mutations) {
    return { kind: header.recovery || isBehind ? 'behind' : 'lost' };
  }
  // The tables may have been altered since, too.
  if (isBehind) return { kind: 'behind' };
  if (cookie.views !== views) return { kind: 'reset', reason: 'views' };
  if (relation === 'other') return { kind: 'reset', reason: 'epoch' };
  if (relation === 'future') return { kind: 'reset', reason: 'future' };
  if (cookie.parsedSnapshot.xmin < header.horizon) return { kind: 'reset', reason: 'horizon' };
  if (header.diverged) {
    // A standby whose xmin is not below the base's shows everything below the base's xmin, including the base's tick.
    const mayBeLate = header.recovery && header.snapshot.xmin < cookie.parsedSnapshot.xmin;
    return mayBeLate ? { kind: 'behind' } : { kind: 'reset', reason: 'epoch' };
  }
  if (header.truncated) return { kind: 'reset', reason: 'truncate' };
  const tables = changedTables(header, altered).map(([table]) => table);
  if (altered && isUnreadable(tables, altered)) return { kind: 'reset', reason: 'views' };
  if (tables.length === 0 && !altered?.size && !isRenewalDue(cookie, header)) return { kind: 'unchanged' };
  return { kind: 'delta', tables };
}

/** Whether rows have been logged in a layout that nobody knows, or have come or gone without being logged. */
function isUnreadable(tables: readonly number[], altered: Altered): boolean {
  return [...altered].some(([table, to]) => to === 'lost' || (to === 'unknown' && tables.includes(table)));
}

/** The tables with changes that the base has not seen: those that have been logged, and those with rows of new partitions. */
export function changedTables({ changed }: Pick<Header, 'changed'>, altered: Altered | undefined): Header['changed'] {
  if (!altered?.size) return changed;
  const rows = new Map(changed);
  for (const [table, alteration] of altered) {
    if (typeof alteration !== 'string' && alteration.attached.length > 0) rows.set(table, rows.get(table) ?? manyRows);
  }
  return [...rows];
}

/**
 * The tables that have been altered since the cookie was given, though not in what the views read of them. What has been
 * logged of them since may be in another layout than the present one.
 */
export function alteredTables({ shapes: before }: Pick<OpenedCookie, 'shapes'>, shapes: string): readonly number[] {
  if (shapes === before) return [];
  const known = new Set(before.split('.'));
  return shapes.split('.').flatMap((shape) => (known.has(shape) ? [] : [Number.parseInt(shape, 10)]));
}

/**
 * Whether the header's statement is known to show everything that a cookie's snapshot has seen.
 *
 * A primary's snapshot says exactly what it has seen. It can still be behind a standby's: a commit is often replayed
 * before the primary itself shows it, and always if commits wait for standbys.
 *
 * A standby's snapshot does not list everything that it has seen. But on a standby, transactions end in the order of
 * the write-ahead log, and the last one that has ended is directly below xmax. Once that is a transaction that ended
 * after everything that the cookie's snapshot has seen, the standby shows all of it.
 */
export function showsAllOf(
  { parsedSnapshot, parsedNext }: CookieMeaning,
  { shown, recovery }: Pick<Header, 'shown' | 'recovery'>,
): boolean {
  return (recovery && shown.xmax > parsedNext) || coversSnapshot(shown, parsedSnapshot);
}

/** True if an answer prepared for one plan also serves the other, which was made at a later snapshot. */
export function covers(prepared: Plan, actual: Plan): boolean {
  if (actual.kind === 'unchanged') return true;
  if (actual.kind !== 'delta' || prepared.kind !== 'delta') return false;
  return actual.tables.every((table) => prepared.tables.includes(table));
}

/**
 * Whether an answer without ops has a new cookie anyway: there are mutation IDs to report; or a client whose data does
 * not change would fall behind the horizon, or read more and more of a busy database's log in vain; or the secret has
 * been rotated.
 */
export function isRenewalDue(cookie: OpenedCookie, { lastMutationIDs, aging, changed }: Header): boolean {
  const rows = changed.reduce((sum, [, count]) => sum + count, 0);
  return lastMutationIDs !== null || cookie.parsedSnapshot.xmin < aging || rows >= manyRows || cookie.isOutdated;
}

/**
 * A delta over fewer changed keys than this is short: it takes less than a second, and its patch fits into the buffers
 * on its way. It is always cheaper than a reset, unless the keys have changed very often.
 */
const fewestKeys = 10_000;
/**
 * A delta takes some twelve times as long for a changed key as a reset for a row. But a reset also gives the network and
 * the client all rows to work on, not only those that have changed.
 */
const rowsPerKey = 5;
/** What a delta takes for a changed key, in the units of Postgres's estimates. */
const costPerKey = 8;

/** Whether a delta over so many changed keys is short. */
export function isShort(changedKeys: number): boolean {
  return changedKeys < fewestKeys;
}

/**
 * With so many changed keys, a partition takes as long as a row of an incremental view. For each of four times as many, it
 * takes twice as long; see `rowsOfSides`.
 */
const evenKeys = 625;

/**
 * How large the views may be, so that a reset is cheaper than a delta that is not short, over so many changed keys.
 * @param isKeyed true if the delta evaluates partitions of one of the views
 */
export function sizeWorthReset(changedKeys: number, isKeyed: boolean): ViewSize {
  const keys = Math.round(isKeyed ? changedKeys * Math.max(1, Math.sqrt(changedKeys / evenKeys)) : changedKeys);
  return { rows: rowsPerKey * keys, cost: costPerKey * keys };
}

/** The inverse of `sizeWorthReset`: from how many changed keys on a reset of views of a size is cheaper. */
export function keysWorthReset({ rows, cost }: ViewSize, isKeyed: boolean): number {
  const keys = Math.max(1, rows / rowsPerKey, cost / costPerKey);
  return Math.ceil(isKeyed && keys > evenKeys ? Math.cbrt(keys * keys * evenKeys) : keys);
}
