/** The secrets that sign cookies. */
import type { Database } from '../db/database.js';

/** The delay before a new secret signs. By then, all servers have read it, unless they use a standby that lags more. */
const spreadSeconds = 60;

/** SQL for the valid secrets in `tidemark.meta m`. The secret that signs comes first. */
export const secretsSql = `array_remove(
    case when m.signs_from > now() then array[m.previous_secret, m.secret]
      else array[m.secret, case when m.previous_until > now() then m.previous_secret end] end,
    null)`;

/** Even the last cookie that the previous secret signs stays valid for the retention. */
const rotateSql = `
  update tidemark.meta
  set previous_secret = secret, secret = gen_random_uuid()::text || gen_random_uuid()::text,
    signs_from = now() + make_interval(secs => $1), previous_until = now() + make_interval(secs => $1 + $2)`;

/**
 * Creates a new secret. The current one stays valid; the one before it does not.
 * @param retentionSeconds how long a cookie stays valid without a pull
 */
export async function rotateSecret(db: Database, retentionSeconds: number): Promise<void> {
  await db.query({ text: rotateSql, values: [spreadSeconds, retentionSeconds] });
}
