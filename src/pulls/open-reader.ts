/** Opens the cookie of a pull, and finds how the views and tables have changed since it was issued. */
import type { UserContext } from '../context.js';
import type { ResolvedViews } from '../schema/schema-cache.js';
import type { Collaborators } from './collaborators.js';
import { checksumModeFor } from './consistency-checker.js';
import { findCookieChanges } from './cookie-changes.js';
import { groupRequestOf } from './pull-target.js';
import { Reader } from './reader.js';
import type { PullSession } from './session.js';

/** @returns undefined without a readable cookie; `outdated` if the schema state is */
export async function openReader<Context extends UserContext>(
  session: PullSession<Context>,
  resolved: ResolvedViews,
  { cookies, schemaCache, consistencyChecker }: Collaborators<Context>,
): Promise<Reader | undefined | 'outdated'> {
  const verifiedCookie = cookies.open(session.request.cookie, resolved.schema.secrets);
  if (!verifiedCookie) return undefined;
  const { cookie } = verifiedCookie;
  const changes = await findCookieChanges(cookie, session, resolved, schemaCache);
  if (changes === 'outdated') return changes;
  const { viewDifference, schemaChanges } = changes;
  const consistencyCheck =
    cookie.consistencyCheck === null
      ? null
      : consistencyChecker.decode(cookie.consistencyCheck, viewDifference?.indexes);
  const checksumMode = consistencyCheck ? checksumModeFor(consistencyCheck) : 'no';
  const groupRequest = groupRequestOf(session, cookie.clientGroupID);
  const { caller } = session;
  return new Reader({
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
