/** What has become of a client's views, and of the tables that they read, since its cookie was given. */
import { isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import type { Digests } from '../installation/digests.js';
import type { ChangedViews } from '../installation/held-views.js';
import type { Installation } from '../installation/installation.js';
import { describeError, type Logger } from '../log.js';
import type { OpenedCookie } from '../protocol/cookie.js';
import { type Altered, nothingAltered } from '../store/layouts/alteration.js';
import type { SyncedTable } from '../store/patches/states.js';
import { alteredTables } from './plan.js';

export interface Since {
  /** If the views are not all those of the cookie. Undefined, too, if it cannot be told: then all data must be sent. */
  readonly changed: ChangedViews | undefined;
  /** The tables that have been altered. A new cookie then says that nothing of before is unseen. */
  readonly altered: Altered;
}

export const nothingSince: Since = { changed: undefined, altered: nothingAltered };

/** What a cookie is compared with. */
export interface Compared extends Pick<Digests, 'viewDigests' | 'shapes'> {
  readonly installation: Pick<Installation, 'tables'>;
  /** Whoever has all data as rows is sent all of it if a view has changed. */
  readonly form: 'ops' | 'rows';
  readonly changedSince: (cookie: OpenedCookie) => Promise<ChangedViews | undefined>;
  /** What has become of tables since a cookie had these shapes. */
  readonly alteredSince: (tables: readonly SyncedTable[], shapes: string) => Promise<Altered>;
}

export async function findSince(cookie: OpenedCookie, compared: Compared, log: Logger): Promise<Since> {
  const { viewDigests, shapes, form, changedSince, alteredSince } = compared;
  if (cookie.views === viewDigests && cookie.shapes === shapes) return nothingSince;
  const changed =
    form === 'rows' || cookie.views === viewDigests
      ? undefined
      : await told(changedSince(cookie), undefined, 'What a client has of views that changed cannot be told', log);
  const { installation, shapes: present } = changed ?? compared;
  const ids = alteredTables(cookie, present);
  if (ids.length === 0) return { changed, altered: nothingAltered };
  const tables = installation.tables.filter(({ id }) => ids.includes(id));
  const lost: Altered = new Map(ids.map((id) => [id, 'lost']));
  const found = alteredSince(tables, cookie.shapes);
  return { changed, altered: await told(found, lost, 'What has become of altered tables cannot be told', log) };
}

/** What is found; something else if that fails for good. */
async function told<T>(found: Promise<T>, otherwise: T, message: string, log: Logger): Promise<T> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof Problem || isTransient(error)) throw error;
    log.error({ error: describeError(error) }, message);
    return otherwise;
  }
}
