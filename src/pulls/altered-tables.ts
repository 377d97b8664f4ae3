import { isTransient } from '../db/sqlstate.js';
import { Problem } from '../errors.js';
import type { Digests } from '../installation/digests.js';
import type { Installation } from '../installation/installation.js';
import { describeError, type Logger } from '../log.js';
import type { OpenedCookie } from '../protocol/cookie.js';
import { type Altered, nothingAltered } from '../store/layouts/alteration.js';
import type { SyncedTable } from '../store/patches/states.js';
import { alteredTables } from './plan.js';

/** Finds out what has become of tables that have been altered since a cookie had shapes. */
export type AlteredSince = (tables: readonly SyncedTable[], shapes: string) => Promise<Altered>;

/** The tables that have been altered since a cookie was given: another one says that nothing of before is unseen. */
export async function alteredFor(
  { parsedPosition, shapes = '' }: OpenedCookie,
  present: Pick<Digests, 'shapes'> & { readonly installation: Pick<Installation, 'tables'> },
  alteredSince: AlteredSince,
  log: Logger,
): Promise<Altered> {
  const ids = alteredTables({ shapes }, parsedPosition && present.shapes);
  if (ids.length === 0) return nothingAltered;
  try {
    return await alteredSince(
      present.installation.tables.filter(({ id }) => ids.includes(id)),
      shapes,
    );
  } catch (error) {
    if (error instanceof Problem || isTransient(error)) throw error;
    log.error({ error: describeError(error) }, 'What has become of altered tables cannot be told');
    return new Map(ids.map((id) => [id, 'lost']));
  }
}
