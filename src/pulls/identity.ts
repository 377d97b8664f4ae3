/** The part of a cookie that identifies the database and the user's views. Pure. */

import { type CookieFields, databaseIDOf } from '../protocol/cookie.js';
import type { ResolvedViews } from '../schema/schema-cache.js';
import type { DatabaseState } from '../store/observation.js';

export type Identity = Pick<CookieFields, 'databaseID' | 'views' | 'parameters' | 'schemaHashes'>;

export function identityOf(
  { viewDigests, parameters, schemaHashes, schema }: Omit<ResolvedViews, 'views' | 'queryDigest'>,
  { installID, database }: Pick<DatabaseState, 'installID' | 'database'>,
): Identity {
  const databaseID = databaseIDOf(installID, schema.systemIdentifier, database);
  return { databaseID, views: viewDigests, schemaHashes, ...(parameters !== undefined && { parameters }) };
}
