/** Keeps the change log from growing forever. */
import type { Database } from '../db/database.js';
import { mutationsID } from './client-groups.js';

const isStandby = 'select pg_is_in_recovery() as "isStandby"';

const insertTick = `
  insert into tidemark.tick (oldest_xid, snapshot, system_identifier)
  select pg_snapshot_xmin(s), s, c.system_identifier from pg_current_snapshot() s, pg_control_system() c
  on conflict do nothing`;

/** A cookie that is younger than the retention has a snapshot whose xmin is at least that of every earlier tick. */
const raiseHorizon = `
  update tidemark.meta
  set horizon = greatest(meta.horizon, past.horizon), aging = greatest(meta.aging, past.aging)
  from (
    select max(oldest_xid) filter (where at < clock_timestamp() - make_interval(secs => $1)) as horizon,
      max(oldest_xid) filter (where at < clock_timestamp() - make_interval(secs => $1) / 2) as aging
    from tidemark.tick
  ) past
  where past.horizon > meta.horizon or past.aging > meta.aging`;

const deleteBatch = `
  delete from tidemark.change where ctid = any (array(
    select ctid from tidemark.change
    where table_id = any (array(select id from tidemark.synced_table) || ${mutationsID}) and xid < (select horizon from tidemark.meta)
    limit $1
  ))
  returning 1`;

/** A cookie that is still valid may name the newest tick below the horizon. */
const deleteTicks = `
  delete from tidemark.tick
  where xid < (select max(xid) from tidemark.tick where xid < (select horizon from tidemark.meta))`;

const batch = 10_000;

/**
 * Deletes changes that are older than the retention. The horizon is raised first, and by transaction ID: a pull whose
 * cookie has a snapshot below it resets the client, so no pull can miss a deleted row. On a standby there is nothing to
 * do: it follows its primary in this too.
 *
 * @param retentionSeconds how long a cookie stays valid without a pull
 * @returns the number of log rows deleted
 */
export async function prune(db: Database, retentionSeconds: number): Promise<number> {
  const [row] = await db.query<{ isStandby: boolean }>({ text: isStandby });
  if (row!.isStandby) return 0;
  await db.query({ text: insertTick });
  await db.query({ text: raiseHorizon, values: [retentionSeconds] });
  let deleted = 0;
  for (;;) {
    const rows = await db.query({ text: deleteBatch, values: [batch] });
    deleted += rows.length;
    if (rows.length < batch) break;
  }
  await db.query({ text: deleteTicks });
  return deleted;
}
