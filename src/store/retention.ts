/** Keeps the change log from growing forever. */
import { type Database, readCommitted } from '../db/database.js';
import { setOwn } from '../db/own-settings.js';
import { mutationsID } from './client-groups.js';
import { disconnectsID } from './disconnects.js';

/** A week, and 10 GiB. */
export const usualRetention: { readonly seconds: number; readonly bytes: number } = {
  seconds: 7 * 24 * 60 * 60,
  bytes: 10 * 1024 ** 3,
};

/** Ticks are written one at a time, in READ COMMITTED, so that each log row is in the measure of one of them. */
const oneAtATime = [readCommitted, setOwn, `select pg_advisory_xact_lock(hashtextextended('tidemark tick', 0))`];

/**
 * The tick itself comes behind its position. The log is measured as it grows, since files keep the space of deleted rows.
 * What is below xmin grows no more.
 */
const insertTick = `
  insert into tidemark.tick (oldest_xid, snapshot, system_identifier, timeline, position, bytes)
  select pg_snapshot_xmin(s), s, c.system_identifier, tidemark.timeline_number(), pg_current_wal_lsn(), (
    select coalesce(sum(80 + pg_column_size(key) + coalesce(pg_column_size(old), 0)), 0) from tidemark.change
    where table_id = any (array(select id from tidemark.synced_table) || array[${mutationsID}, ${disconnectsID}]) and xid < pg_snapshot_xmin(s)
      and xid >= coalesce((select max(oldest_xid) from tidemark.tick where bytes is not null), (select horizon from tidemark.meta))
  )
  from pg_current_snapshot() s, pg_control_system() c
  on conflict do nothing`;

/**
 * A cookie that is younger than the retention has a snapshot whose xmin is at least that of every earlier tick. The
 * horizon is also raised to the newest tick before which the log began to be too large.
 */
const raiseHorizon = `
  update tidemark.meta
  set horizon = greatest(meta.horizon, past.horizon), aging = greatest(meta.aging, past.aging)
  from (
    select max(oldest_xid) filter (where at < clock_timestamp() - make_interval(secs => $1) or kept > $2::float8) as horizon,
      max(oldest_xid) filter (where at < clock_timestamp() - make_interval(secs => $1) / 2 or kept > $2::float8 / 2) as aging
    from (select at, oldest_xid, sum(bytes) over (order by oldest_xid desc) as kept from tidemark.tick) tick
  ) past
  where past.horizon > meta.horizon or past.aging > meta.aging`;

const loggedTables = `
  select id from tidemark.synced_table union all select ${mutationsID} union all select ${disconnectsID}`;

/** Each batch begins where the one before ended: until a vacuum, the index still has the rows that were deleted. */
const deleteBatch = `
  with deleted as (
    delete from tidemark.change where ctid = any (array(
      select ctid from tidemark.change
      where table_id = $1 and xid >= $2::xid8 and xid < (select horizon from tidemark.meta)
      order by xid limit $3
    ))
    returning xid
  )
  select count(*)::integer as rows, max(xid)::text as last from deleted`;

/** A cookie that is still valid may name the newest tick below the horizon. */
const deleteTicks = `
  delete from tidemark.tick
  where xid < (select max(xid) from tidemark.tick where xid < (select horizon from tidemark.meta))`;

/** Whoever has a cookie that is still valid knows a later layout. */
const deleteLayouts = `
  delete from tidemark.layout l using tidemark.layout successor
  where successor.table_id = l.table_id and successor.number = l.number + 1
    and pg_snapshot_xmax(successor.after) <= (select horizon from tidemark.meta)`;

const batch = 10_000;

/**
 * Deletes changes that are older than the retention. The horizon is raised first, and by transaction ID: a pull whose
 * cookie has a snapshot below it resets the client, so no pull can miss a deleted row.
 *
 * @param retentionSeconds how long a cookie stays valid without a pull
 * @param retentionBytes how much of the log is kept; cookies that would need more become invalid earlier. Default: all
 * @returns the number of log rows deleted
 */
export async function prune(db: Database, retentionSeconds: number, retentionBytes?: number): Promise<number> {
  await db.transact(async (client) => {
    for (const statement of [...oneAtATime, insertTick]) await client.query(statement);
  });
  await db.query({ text: raiseHorizon, values: [retentionSeconds, retentionBytes ?? Infinity] });
  let deleted = 0;
  for (const { id } of await db.query<{ id: number }>({ text: loggedTables })) deleted += await pruneTable(db, id);
  await db.query({ text: deleteTicks });
  await db.query({ text: deleteLayouts });
  return deleted;
}

async function pruneTable(db: Database, id: number): Promise<number> {
  let deleted = 0;
  for (let from = '0'; ; ) {
    const values = [id, from, batch];
    const [done] = await db.query<{ rows: number; last: string }>({ text: deleteBatch, values });
    deleted += done!.rows;
    if (done!.rows < batch) return deleted;
    from = done!.last;
  }
}

/** For how long the lowest transaction in progress has been the same, as far as ticks tell, in seconds. */
export async function heldBackSeconds(db: Database): Promise<number> {
  const [row] = await db.query<{ seconds: number | null }>({
    text: `
      select extract(epoch from max(at) - min(at))::float8 as seconds from tidemark.tick
      where oldest_xid = (select max(oldest_xid) from tidemark.tick)`,
  });
  return row!.seconds ?? 0;
}
