/** The record of the timelines of the database. */
import { type Database, readCommitted } from '../db/database.js';

/** As a column: whether the timeline is one that a primary has yet to record. */
export const unrecordedSql: string = `
  not pg_is_in_recovery() and not exists (
    select from tidemark.timeline t where t.system_identifier = s.system_identifier
      and t.number = case when not pg_is_in_recovery() then tidemark.timeline_number() end
  ) as "isUnrecorded"`;

/** Records the timeline that a primary is on. READ COMMITTED, since another server may be doing the same. */
export async function recordTimeline(db: Database): Promise<void> {
  await db.transact(async (client) => {
    await client.query(readCommitted);
    await client.query('select tidemark.record_timeline()');
  });
}
