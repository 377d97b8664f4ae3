/** Opens the cookie of a pull, and finds how the views and tables have changed since it was issued. */
import type { UserContext } from '../context.js';
import { isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import { describeError, type Logger } from '../log.js';
import type { OpenedCookie } from '../protocol/cookie.js';
import type { ResolvedViews, SchemaCache } from '../schema/schema-cache.js';
import type { ViewSetDifference } from '../schema/views/cookie-views.js';
import { noSchemaChanges, type SchemaChanges } from '../store/row-formats/schema-change.js';
import type { Collaborators } from './collaborators.js';
import { checksumModeFor } from './consistency-checker.js';
import { tablesWithNewSchema } from './plan.js';
import { createReader, type Reader } from './reads/reader.js';
import { groupRequestOf, type PullSession } from './session.js';

/**
 * Returns the reader of a request's cookie: the cookie, and how it differs from the current views.
 * @param isStandby true if the database is a standby
 * @returns undefined without a readable cookie; `outdated` if the schema state is
 */
export async function openCookie<Context extends UserContext>(
  session: PullSession<Context>,
  resolved: ResolvedViews,
  { cookies, schemaCache, consistencyChecker }: Collaborators<Context>,
  isStandby: boolean,
): Promise<Reader | undefined | 'outdated'> {
  const verifiedCookie = cookies.open(session.request.cookie, resolved.schema.secrets);
  if (!verifiedCookie) return undefined;
  const { cookie } = verifiedCookie;
  const changes = await findCookieChanges(cookie, session, resolved, schemaCache, isStandby);
  if (changes === 'outdated') return changes;
  const { viewDifference, schemaChanges } = changes;
  const consistencyCheck =
    cookie.consistencyCheck === null
      ? null
      : consistencyChecker.decode(cookie.consistencyCheck, viewDifference?.indexes);
  const checksumMode = consistencyCheck ? checksumModeFor(consistencyCheck) : 'no';
  const groupRequest = groupRequestOf(session, cookie.clientGroupID);
  const { caller } = session;
  return createReader({
    resolved,
    caller,
    verifiedCookie,
    consistencyCheck,
    checksumMode,
    groupRequest,
    viewDifference,
    schemaChanges,
  });
}

interface CookieChanges {
  /** Set if the views are not all the cookie's. Also undefined if the views cannot be compared, which means a reset. */
  readonly viewDifference: ViewSetDifference | undefined;
  /** The schema changes of tables. If there are any, a new cookie marks rows logged in previous formats as seen. */
  readonly schemaChanges: SchemaChanges;
}

const noCookieChanges: CookieChanges = { viewDifference: undefined, schemaChanges: noSchemaChanges };

/**
 * Finds how the views, and the tables that they read, have changed since the cookie was issued.
 * @returns `outdated` if the schema state is
 */
async function findCookieChanges<Context extends UserContext>(
  cookie: OpenedCookie,
  { caller, format }: PullSession<Context>,
  resolved: ResolvedViews,
  schemaCache: SchemaCache<Context>,
  isStandby: boolean,
): Promise<CookieChanges | 'outdated'> {
  const isSameViews = cookie.views === resolved.viewDigests;
  if (isSameViews && cookie.schemaHashes === resolved.schemaHashes) return noCookieChanges;
  // If a view has changed, readers of rows get all rows.
  const viewDifference =
    isSameViews || format === 'rows'
      ? undefined
      : await orFallback(
          schemaCache.diffSince(cookie, resolved, caller.context.userID, isStandby),
          undefined,
          'Cannot determine what a client has of changed views',
          caller.log,
        );
  if (viewDifference === 'outdated') return viewDifference;
  const { schema, schemaHashes } = viewDifference ?? resolved;
  const ids = tablesWithNewSchema(cookie, schemaHashes);
  if (ids.length === 0) return { viewDifference, schemaChanges: noSchemaChanges };
  const tables = schema.tables.filter(({ id }) => ids.includes(id));
  const lost: SchemaChanges = new Map(ids.map((id) => [id, 'lost']));
  const schemaChanges = await orFallback(
    schemaCache.schemaChangesSince(tables, cookie.schemaHashes),
    lost,
    'Cannot determine how the schema of tables changed',
    caller.log,
  );
  return { viewDifference, schemaChanges };
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
