/** What to answer to a pull. Pure: the cookie and what the database says, in; the answer's kind, out. */
import type { OpenedCookie } from '../protocol/cookie.js';
import { parseSnapshot } from '../protocol/snapshot.js';
import type { Header } from '../store/header.js';

export type Plan =
  /** Nothing has changed for this client: the identical cookie and an empty patch. */
  | { readonly kind: 'unchanged' }
  /** Ops for what changed in these tables; none when only mutation IDs moved. */
  | { readonly kind: 'delta'; readonly tables: readonly number[] }
  /** All data after a `clear`: the cookie's state cannot be compared with today's. */
  | { readonly kind: 'reset'; readonly reason: ResetReason };

export type ResetReason = 'cookie' | 'views' | 'epoch' | 'future' | 'horizon' | 'truncate' | 'failure';

/** What a cookie is measured against. */
export interface Present {
  readonly header: Header;
  readonly epoch: string;
  readonly views: string;
}

export function planPull(cookie: OpenedCookie, { header, epoch, views }: Present): Plan {
  const base = cookie.parsedSnapshot;
  const now = parseSnapshot(header.snapshot)!;
  if (cookie.views !== views) return { kind: 'reset', reason: 'views' };
  if (cookie.epoch !== epoch) return { kind: 'reset', reason: 'epoch' };
  if (now.xmax < base.xmax) return header.recovery ? { kind: 'unchanged' } : { kind: 'reset', reason: 'future' };
  if (base.xmin < BigInt(header.horizon)) return { kind: 'reset', reason: 'horizon' };
  if (header.truncated) return { kind: 'reset', reason: 'truncate' };
  const tables = header.changed.map(([table]) => table);
  if (tables.length === 0 && !header.lastMutationIDs) return { kind: 'unchanged' };
  return { kind: 'delta', tables };
}

/** True when an answer prepared for one plan also serves the other, made at a later snapshot. */
export function covers(prepared: Plan, actual: Plan): boolean {
  if (actual.kind === 'unchanged') return true;
  if (actual.kind === 'reset' || prepared.kind !== 'delta') return false;
  return actual.tables.every((table) => prepared.tables.includes(table));
}

/** So many log rows read in vain that a fresh cookie is worth more than the identical one. */
const fruitlessRows = 100;

/** A client to whom nothing happened in a busy database would otherwise scan more of the log at each pull. */
export function isFruitless(header: Header): boolean {
  return header.changed.reduce((sum, [, rows]) => sum + rows, 0) >= fruitlessRows;
}
