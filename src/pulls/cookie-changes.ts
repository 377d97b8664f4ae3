/** Finds how a client's views, and the tables that they read, have changed since its cookie was issued. */
import { isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import { describeError, type Logger } from '../log.js';
import type { OpenedCookie } from '../protocol/cookie.js';
import type { ViewSetDifference } from '../schema/cookie-views.js';
import type { Digests } from '../schema/digests.js';
import type { SchemaState } from '../schema/schema-state.js';
import type { SyncedTable } from '../store/patches/states.js';
import { noSchemaChanges, type SchemaChanges } from '../store/row-formats/schema-change.js';
import { tablesWithNewSchema } from './plan.js';

export interface CookieChanges {
  /** Set if the views are not all the cookie's. Also undefined if the views cannot be compared, which means a reset. */
  readonly viewDifference: ViewSetDifference | undefined;
  /** The schema changes of tables. If there are any, a new cookie marks rows logged in previous formats as seen. */
  readonly schemaChanges: SchemaChanges;
}

export const noCookieChanges: CookieChanges = { viewDifference: undefined, schemaChanges: noSchemaChanges };

/** The current views and tables, for comparison with a cookie. */
export interface CookieComparison extends Pick<Digests, 'viewDigests' | 'schemaHashes'> {
  readonly schema: Pick<SchemaState, 'tables'>;
  /** With `rows`, a changed view means that all data is sent, so view sets are not compared. */
  readonly format: 'ops' | 'rows';
  readonly viewDifferenceSince: (cookie: OpenedCookie) => Promise<ViewSetDifference | undefined>;
  /** Returns how the schema of tables has changed since a cookie with these schema hashes. */
  readonly schemaChangesSince: (tables: readonly SyncedTable[], schemaHashes: string) => Promise<SchemaChanges>;
}

export async function findCookieChanges(
  cookie: OpenedCookie,
  current: CookieComparison,
  log: Logger,
): Promise<CookieChanges> {
  const { viewDigests, schemaHashes, format, viewDifferenceSince, schemaChangesSince } = current;
  if (cookie.views === viewDigests && cookie.schemaHashes === schemaHashes) return noCookieChanges;
  const viewDifference =
    format === 'rows' || cookie.views === viewDigests
      ? undefined
      : await orFallback(
          viewDifferenceSince(cookie),
          undefined,
          'Cannot determine what a client has of changed views',
          log,
        );
  const { schema, schemaHashes: currentHashes } = viewDifference ?? current;
  const ids = tablesWithNewSchema(cookie, currentHashes);
  if (ids.length === 0) return { viewDifference, schemaChanges: noSchemaChanges };
  const tables = schema.tables.filter(({ id }) => ids.includes(id));
  const lost: SchemaChanges = new Map(ids.map((id) => [id, 'lost']));
  const pendingResult = schemaChangesSince(tables, cookie.schemaHashes);
  return {
    viewDifference,
    schemaChanges: await orFallback(pendingResult, lost, 'Cannot determine how the schema of tables changed', log),
  };
}

/** Returns the pending result, or a fallback if that fails permanently. */
async function orFallback<T>(pendingResult: Promise<T>, fallback: T, message: string, log: Logger): Promise<T> {
  try {
    return await pendingResult;
  } catch (error) {
    if (error instanceof Problem || isTransient(error)) throw error;
    log.error({ error: describeError(error) }, message);
    return fallback;
  }
}
