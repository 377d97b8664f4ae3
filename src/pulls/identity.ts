/** What a cookie tells of the database and of the user's views, in each of its forms. Pure. */
import type { Bound } from '../installation/current-installation.js';
import type { Installation } from '../installation/installation.js';
import { type CookieFields, epochOf } from '../protocol/cookie.js';
import type { Position } from '../protocol/history.js';
import type { SharedHeader } from '../store/header.js';

export type Identity = Pick<CookieFields, 'epoch' | 'views' | 'parameters' | 'shapes'>;

/** @param position that of the cookie; undefined if it has the first form */
export function identityOf(
  { viewsDigest, viewDigests, parameters, shapes, installation }: Omit<Bound, 'views' | 'formDigest'>,
  { installID, database }: Pick<SharedHeader, 'installID' | 'database'>,
  position: Position | undefined,
): Identity {
  if (position) {
    const epoch = epochOf(installID, installation.systemIdentifier, database);
    return { epoch, views: viewDigests, shapes, ...(parameters !== undefined && { parameters }) };
  }
  return { epoch: epochOf(installID, installation.cluster, database), views: viewsDigest };
}

/**
 * The position of a new cookie; undefined if that is to have the first form. On a standby that has not come to a timeline
 * that was recorded, it has.
 */
export function positionOf(
  { cookieForm }: Pick<Installation, 'cookieForm'>,
  { history }: Pick<SharedHeader, 'history'>,
): Position | undefined {
  if (cookieForm === 'first' || !history || history.current === null) return undefined;
  return { timeline: history.current, lsn: history.lsn };
}
