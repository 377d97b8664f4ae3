/** The secrets that sign cookies. */
import type { Database } from '../db/database.js';

/** After so many seconds all servers know a new secret, and those of a standby unless it lags by more. */
const spreadSeconds = 60;

/** The one that signs comes first. Columns of `tidemark.meta m`. */
export const secretsSql = `array_remove(
    case when m.signs_from > now() then array[m.previous_secret, m.secret]
      else array[m.secret, case when m.previous_until > now() then m.previous_secret end] end,
    null)`;

/** A cookie that was signed last of all with the previous secret is still valid for the retention. */
const rotateSql = `
  update tidemark.meta
  set previous_secret = secret, secret = gen_random_uuid()::text || gen_random_uuid()::text,
    signs_from = now() + make_interval(secs => $1), previous_until = now() + make_interval(secs => $1 + $2)`;

/**
 * Creates a new secret. The one until now remains valid; the one before that does not.
 * @param retentionSeconds how long a cookie stays valid without a pull
 */
export async function rotateSecret(db: Database, retentionSeconds: number): Promise<void> {
  await db.query({ text: rotateSql, values: [spreadSeconds, retentionSeconds] });
}
