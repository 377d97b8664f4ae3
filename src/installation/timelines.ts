/** The timelines of the database, and the form of cookies: what has come to the schema with one of its versions. */
import { type Database, readCommitted } from '../db/database.js';

/** From this version of the schema on, timelines are recorded, and ticks tell of their writers. */
export const timelinesVersion = 18;

/**
 * As columns: whether the timeline is one that a primary has yet to record; and whether a server may be running that can
 * read no other form of cookies than the first. Three ticks of it may be late, or the clock of a standby.
 */
export const timelinesSql: string = `
  not pg_is_in_recovery() and not exists (
    select from tidemark.timeline t where t.system_identifier = s.system_identifier
      and t.number = case when not pg_is_in_recovery() then tidemark.timeline_number() end
  ) as "isUnrecorded",
  exists (
    select from tidemark.tick where cookie_form is null and at > clock_timestamp() - interval '3 minutes'
  ) as "usesFirstForm"`;

/** The same for a schema that knows nothing of this. */
export const noTimelinesSql = 'false as "isUnrecorded", true as "usesFirstForm"';

/** Records the timeline that a primary is on. READ COMMITTED, since another server may be doing the same. */
export async function recordTimeline(db: Database): Promise<void> {
  await db.transact(async (client) => {
    await client.query(readCommitted);
    await client.query('select tidemark.record_timeline()');
  });
}
