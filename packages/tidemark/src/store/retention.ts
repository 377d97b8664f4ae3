/** The retention of the change log: writes heartbeats, raises the horizon, and deletes what lies below it. */
import { type Database, readCommitted } from '../db/database.js';
import { setOwn } from '../db/own-settings.js';
import { mutationsID } from './client-groups.js';
import { disconnectsID } from './disconnects.js';

/** A week, and 10 GiB. */
export const defaultRetention: { readonly seconds: number; readonly bytes: number } = {
  seconds: 7 * 24 * 60 * 60,
  bytes: 10 * 1024 ** 3,
};

/** Heartbeats are written one at a time, in READ COMMITTED, so that exactly one of them counts each log row. */
const serializeHeartbeats = [
  readCommitted,
  setOwn,
  `select pg_advisory_xact_lock(hashtextextended('tidemark heartbeat', 0))`,
];

/**
 * The WAL position comes before the heartbeat itself. The log is measured as it grows, because files keep the space of
 * deleted rows. The part below xmin no longer grows.
 */
const insertHeartbeat = `
  insert into tidemark.heartbeat (oldest_xid, snapshot, system_identifier, timeline, position, bytes)
  select pg_snapshot_xmin(s), s, c.system_identifier, tidemark.timeline_number(), pg_current_wal_lsn(), (
    select coalesce(sum(80 + pg_column_size(key) + coalesce(pg_column_size(old), 0)), 0) from tidemark.change
    where table_id = any (array(select id from tidemark.synced_table) || array[${mutationsID}, ${disconnectsID}]) and xid < pg_snapshot_xmin(s)
      and xid >= coalesce((select max(oldest_xid) from tidemark.heartbeat where bytes is not null), (select horizon from tidemark.meta))
  )
  from pg_current_snapshot() s, pg_control_system() c
  on conflict do nothing`;

/**
 * The snapshot of a cookie younger than the retention has an xmin at least as high as that of every heartbeat that is
 * older. The horizon also rises to the newest heartbeat from which on the log is too large.
 */
const raiseHorizon = `
  update tidemark.meta
  set horizon = greatest(meta.horizon, past.horizon), aging = greatest(meta.aging, past.aging)
  from (
    select max(oldest_xid) filter (where at < clock_timestamp() - make_interval(secs => $1) or bytes_since > $2::float8) as horizon,
      max(oldest_xid) filter (where at < clock_timestamp() - make_interval(secs => $1) / 2 or bytes_since > $2::float8 / 2) as aging
    from (select at, oldest_xid, sum(bytes) over (order by oldest_xid desc) as bytes_since from tidemark.heartbeat) heartbeat
  ) past
  where past.horizon > meta.horizon or past.aging > meta.aging`;

const loggedTables = `
  select id from tidemark.synced_table union all select ${mutationsID} union all select ${disconnectsID}`;

/** Each batch begins where the previous one ended. Until a vacuum, the index still contains the deleted rows. */
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

/** Keeps the newest heartbeat below the horizon, because a valid cookie may name it. */
const deleteHeartbeats = `
  delete from tidemark.heartbeat
  where xid < (select max(xid) from tidemark.heartbeat where xid < (select horizon from tidemark.meta))`;

/** Deletes row formats that are older than the row formats of all valid cookies. */
const deleteRowFormats = `
  delete from tidemark.row_format l using tidemark.row_format successor
  where successor.table_id = l.table_id and successor.number = l.number + 1
    and pg_snapshot_xmax(successor.after) <= (select horizon from tidemark.meta)`;

const batchSize = 10_000;

/**
 * Deletes changes older than the retention. It raises the horizon first, by transaction ID. A pull whose cookie has a
 * snapshot below the horizon resets the client, so no pull can miss a deleted row.
 *
 * @param retentionSeconds how long a cookie stays valid without a pull
 * @param retentionBytes the maximum size of the log; cookies that need more become invalid earlier. Default: no maximum
 * @returns the number of log rows deleted
 */
export async function prune(db: Database, retentionSeconds: number, retentionBytes?: number): Promise<number> {
  await db.transact(async (client) => {
    for (const statement of [...serializeHeartbeats, insertHeartbeat]) await client.query(statement);
  });
  await db.query({ text: raiseHorizon, values: [retentionSeconds, retentionBytes ?? Infinity] });
  let deleted = 0;
  for (const { id } of await db.query<{ id: number }>({ text: loggedTables })) deleted += await pruneTable(db, id);
  await db.query({ text: deleteHeartbeats });
  await db.query({ text: deleteRowFormats });
  return deleted;
}

async function pruneTable(db: Database, id: number): Promise<number> {
  let deleted = 0;
  for (let from = '0'; ; ) {
    const values = [id, from, batchSize];
    const [result] = await db.query<{ rows: number; last: string }>({ text: deleteBatch, values });
    deleted += result!.rows;
    if (result!.rows < batchSize) return deleted;
    from = result!.last;
  }
}

/** Returns for how many seconds the lowest transaction in progress has been the same, according to heartbeats. */
export async function heldBackSeconds(db: Database): Promise<number> {
  const [row] = await db.query<{ seconds: number | null }>({
    text: `
      select extract(epoch from max(at) - min(at))::float8 as seconds from tidemark.heartbeat
      where oldest_xid = (select max(oldest_xid) from tidemark.heartbeat)`,
  });
  return row!.seconds ?? 0;
}
