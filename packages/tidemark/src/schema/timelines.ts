/** Records the timelines of the database. */
import { type Database, readCommitted } from '../db/database.js';

/** SQL for a column: true on a primary whose timeline is not recorded yet. */
export const unrecordedSql: string = `
  not pg_is_in_recovery() and not exists (
    select from tidemark.timeline t where t.system_identifier = s.system_identifier
      and t.number = case when not pg_is_in_recovery() then tidemark.timeline_number() end
  ) as "isUnrecorded"`;

/** Records a primary's timeline. Uses READ COMMITTED, because another server may record it concurrently. */
export async function recordTimeline(db: Database): Promise<void> {
  await db.transact(async (client) => {
    await client.query(readCommitted);
    await client.query('select tidemark.record_timeline()');
  });
}
