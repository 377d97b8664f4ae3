/**
 * Decides how to answer a pull. Pure: it takes the cookie and the database's state, and returns the kind of answer.
 */
import { type CookieFields, databaseIDOf, type OpenedCookie } from '../protocol/cookie.js';
import { timelineStatusOf } from '../protocol/history.js';
import type { ResolvedViews } from '../schema/schema-cache.js';
import type { RowLimit } from '../store/patches/patch-sql.js';
import { type DatabaseState, manyRows, type ObservedState, showsAllOf } from '../store/polls/observation.js';
import type { SchemaChanges } from '../store/row-formats/schema-change.js';

/** How to answer a pull. */
export type Plan =
  /** Nothing has changed for this client: the identical cookie and an empty patch. */
  | { readonly kind: 'unchanged' }
  /**
   * The database may not show everything that the client has seen: the identical cookie and an empty patch, even if
   * there are changes. A delta could remove part of the client's data, and a new cookie would not say that the client
   * has the rest.
   */
  | { readonly kind: 'behind' }
  /**
   * Ops for the changes in these tables. No tables if only mutation IDs have changed, or if only the cookie must be
   * renewed.
   */
  | { readonly kind: 'delta'; readonly tables: readonly number[] }
  /** All data after a `clear`, because the cookie's state cannot be compared with the current one. */
  | Reset
  /**
   * The database has lost mutations that were confirmed to this group, as after a restore. A lower lastMutationID would
   * fail in the client on every retry, so the client must start over as a new group. The new group sends the same
   * cookie, but is not the group that the cookie names.
   */
  | { readonly kind: 'lost' };

/** How to answer a pull, for the whole session. */
export type AnswerPlan =
  | Plan
  /** No ops, but a new cookie, or mutation IDs. */
  | { readonly kind: 'renew' }
  /** The schema state is outdated: read it, and plan again. */
  | { readonly kind: 'outdated' };

/** Sends all data. */
export interface Reset {
  readonly kind: 'reset';
  readonly reason: ResetReason;
  /** A reset of more rows than this would be more expensive than a delta. */
  readonly limit?: RowLimit;
}

/** Why a client is reset. */
export type ResetReason =
  | 'cookie'
  | 'views'
  | 'database'
  | 'future'
  | 'horizon'
  | 'truncate'
  | 'size'
  | 'failure'
  | 'inconsistent';

/** The current state, with which a cookie is compared. */
export interface CurrentState {
  readonly state: ObservedState;
  readonly clientGroupID: string;
  readonly databaseID: string;
  readonly views: string;
  /** The schema changes of tables since the cookie was issued. */
  readonly schemaChanges?: SchemaChanges | undefined;
}

/**
 * How a cookie's history relates to the database's. `future`: the same history, but the database is at an earlier
 * point. `ahead`: perhaps the same history, if a standby has yet to replay it.
 */
type Relation = 'same' | 'future' | 'ahead' | 'other';

function relationOf({ parsedNext, parsedWalPosition, parsedSnapshot }: OpenedCookie, state: ObservedState): Relation {
  const { nextXid: next, recovery, history, snapshot } = state;
  const inclusion = timelineStatusOf(parsedWalPosition, history);
  if (inclusion === 'lost') return 'other';
  // After a promotion, Postgres reassigns the IDs of transactions that left nothing in the log, or nothing at all.
  if (inclusion === 'included') return 'same';
  if (inclusion === 'newest') return recovery || next >= parsedNext ? 'same' : 'future';
  // A standby that shows everything below the cookie's xmax would also have the record of the cookie's timeline.
  return recovery && snapshot.xmin < parsedSnapshot.xmax ? 'ahead' : 'other';
}

/** Decides how to answer a pull that has a usable cookie. */
export function planPull(
  cookie: OpenedCookie,
  { state, clientGroupID, databaseID, views, schemaChanges }: CurrentState,
): Plan {
  const relation = cookie.databaseID === databaseID ? relationOf(cookie, state) : 'other';
  const isBehind = relation === 'ahead' || (relation === 'same' && !showsAllOf(cookie, state));
  if (cookie.clientGroupID === clientGroupID && state.mutations < cookie.mutations) {
    return { kind: state.recovery || isBehind ? 'behind' : 'lost' };
  }
  // The view set may also differ only because the database is behind.
  if (isBehind) return { kind: 'behind' };
  if (cookie.views !== views) return { kind: 'reset', reason: 'views' };
  if (relation === 'other') return { kind: 'reset', reason: 'database' };
  if (relation === 'future') return { kind: 'reset', reason: 'future' };
  if (cookie.parsedSnapshot.xmin < state.horizon) return { kind: 'reset', reason: 'horizon' };
  if (state.diverged) {
    // A standby whose xmin is not below the base's shows all that is below the base's xmin, with the base's heartbeat.
    const mayBeLate = state.recovery && state.snapshot.xmin < cookie.parsedSnapshot.xmin;
    return mayBeLate ? { kind: 'behind' } : { kind: 'reset', reason: 'database' };
  }
  if (state.truncated) return { kind: 'reset', reason: 'truncate' };
  const tables = changedTables(state, schemaChanges).map(([table]) => table);
  if (schemaChanges && isUnreadable(tables, schemaChanges)) return { kind: 'reset', reason: 'views' };
  if (tables.length === 0 && !schemaChanges?.size && !isRenewalDue(cookie, state)) return { kind: 'unchanged' };
  return { kind: 'delta', tables };
}

/** True if rows were logged in an unknown row format, or may have been added or removed without being logged. */
function isUnreadable(tables: readonly number[], schemaChanges: SchemaChanges): boolean {
  return [...schemaChanges].some(([table, to]) => to === 'lost' || (to === 'unknown' && tables.includes(table)));
}

/** Returns the tables with changes that the base has not seen: logged ones, and rows of attached partitions. */
export function changedTables(
  { changeCounts: changed }: Pick<ObservedState, 'changeCounts'>,
  schemaChanges: SchemaChanges | undefined,
): ObservedState['changeCounts'] {
  if (!schemaChanges?.size) return changed;
  const rows = new Map(changed);
  for (const [table, schemaChange] of schemaChanges) {
    if (typeof schemaChange !== 'string' && schemaChange.attachedPartitions.length > 0) {
      rows.set(table, rows.get(table) ?? manyRows);
    }
  }
  return [...rows];
}

/**
 * Returns the tables whose schema hash differs from the cookie's, though not in the columns that the views read. Their
 * log rows since then may have another row format than the current one.
 */
export function tablesWithNewSchema(
  { schemaHashes: before }: Pick<OpenedCookie, 'schemaHashes'>,
  schemaHashes: string,
): readonly number[] {
  if (schemaHashes === before) return [];
  const previousHashes = new Set(before.split('.'));
  return schemaHashes
    .split('.')
    .flatMap((schemaHash) => (previousHashes.has(schemaHash) ? [] : [Number.parseInt(schemaHash, 10)]));
}

/** True if a delta of some tables also serves a plan that was made at a later snapshot. */
export function covers(tables: readonly number[], actual: AnswerPlan): boolean {
  if (actual.kind === 'delta') return actual.tables.every((table) => tables.includes(table));
  return actual.kind === 'unchanged' || actual.kind === 'renew';
}

/**
 * True if an answer without ops still needs a new cookie: to report mutation IDs, or because the secret was rotated, or
 * because a client whose data does not change would fall behind the horizon, or read an ever larger part of a busy
 * database's log for nothing.
 */
export function isRenewalDue(
  cookie: OpenedCookie,
  { lastMutationIDs, aging, changeCounts: changed }: ObservedState,
): boolean {
  const rows = changed.reduce((sum, [, count]) => sum + count, 0);
  return lastMutationIDs !== null || cookie.parsedSnapshot.xmin < aging || rows >= manyRows || cookie.isOutdated;
}

/** The part of a cookie that identifies the database and the user's views. */
export type Identity = Pick<CookieFields, 'databaseID' | 'views' | 'parameters' | 'schemaHashes'>;

export function identityOf(
  { viewDigests, parameters, schemaHashes, schema }: Omit<ResolvedViews, 'views' | 'queryDigest'>,
  { installID, database }: Pick<DatabaseState, 'installID' | 'database'>,
): Identity {
  const databaseID = databaseIDOf(installID, schema.systemIdentifier, database);
  return { databaseID, views: viewDigests, schemaHashes, ...(parameters !== undefined && { parameters }) };
}
