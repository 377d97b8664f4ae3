/** The timelines of the database, and the form of cookies: what has come to the schema with one of its versions. */
import type { Database } from '../db/database.js';

/** From this version of the schema on, timelines are recorded, and ticks tell of their writers. */
export const timelinesVersion = 18;

const isMissingSql = `
  select not pg_is_in_recovery() and not exists (
    select from tidemark.timeline where (system_identifier, number) = (
      select system_identifier, case when not pg_is_in_recovery() then tidemark.timeline_number() end
      from pg_control_system()
    )
  ) as "isMissing"`;

/**
 * Records the timeline that a primary is on, if nobody has done so. READ COMMITTED, since another server may be doing the
 * same.
 */
export async function recordTimeline(db: Database): Promise<void> {
  const [row] = await db.query<{ isMissing: boolean }>({ text: isMissingSql });
  if (!row!.isMissing) return;
  await db.transact(async (client) => {
    await client.query('set transaction isolation level read committed');
    await client.query('select tidemark.record_timeline()');
  });
}

/** Three ticks may be late, or the clock of a standby. */
const usesFirstFormSql = `
  select exists (
    select from tidemark.tick where cookie_form is null and at > clock_timestamp() - interval '3 minutes'
  ) as "usesFirstForm"`;

/** Whether a server may be running that can read no other form of cookies than the first. */
export async function usesFirstForm(db: Database): Promise<boolean> {
  const [row] = await db.query<{ usesFirstForm: boolean }>({ text: usesFirstFormSql });
  return row!.usesFirstForm;
}
