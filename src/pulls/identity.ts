/** What a cookie tells of the database and of the user's views. Pure. */
import type { Bound } from '../installation/current-installation.js';
import { type CookieFields, epochOf } from '../protocol/cookie.js';
import type { SharedHeader } from '../store/header.js';

export type Identity = Pick<CookieFields, 'epoch' | 'views' | 'parameters' | 'shapes'>;

export function identityOf(
  { viewDigests, parameters, shapes, installation }: Omit<Bound, 'views' | 'formDigest'>,
  { installID, database }: Pick<SharedHeader, 'installID' | 'database'>,
): Identity {
  const epoch = epochOf(installID, installation.systemIdentifier, database);
  return { epoch, views: viewDigests, shapes, ...(parameters !== undefined && { parameters }) };
}
