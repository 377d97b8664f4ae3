-- After a crash, Postgres assigns again the IDs of transactions that had been rolled back shortly before, and of which
-- nothing had been written to the disk. What is remembered from before the crash must not say that those had been seen.

-- When the database server was started, and when it last recovered from a crash, perhaps without being started again: it
-- then resets its statistics.
create function tidemark.started() returns text
language sql stable parallel restricted as $$
select concat(extract(epoch from pg_postmaster_start_time()), '/', extract(epoch from pg_stat_get_bgwriter_stat_reset_time()))
$$;

-- As before. And "kept", the ID of the newest transaction that is visible and has left something, whichever tables
-- matter: its end has been written to the disk, so no ID up to its own will be assigned again.
--
-- The log is read only between the IDs of transactions in progress: these may have written any number of rows, none of
-- which is visible.
create or replace function tidemark.looks(
  lows xid8[], highs xid8[], tables integer[], listed boolean, named_tick uuid, group_ids text[]
) returns setof json
language sql stable parallel restricted as $$
with ended (after, before) as materialized (
  select lag(xid, 1, '0') over (order by xid), xid
  from (
    select pg_snapshot_xip(pg_current_snapshot()) as xid
    union all
    select pg_snapshot_xmax(pg_current_snapshot())
  ) ends
), unseen (low, high, after, before) as materialized (
  select * from unnest((select lows), (select highs)) base (low, high)
  join ended on after < high and before > low
)
select json_build_object(
  'snapshot', s::text,
  'standby', case when pg_is_in_recovery() then tidemark.seen_by_standby(tables) end,
  'begun', age(pg_snapshot_xmax(s)::xid),
  'recovery', pg_is_in_recovery(),
  'started', tidemark.started(),
  'installID', m.install_id,
  'database', (select oid::text from pg_database where datname = current_database()),
  'kept', greatest((select xid from tidemark.tick order by xid desc limit 1), (
    select newest.xid from (select * from ended order by before desc) e
    cross join lateral (
      select logged.xid from (select id from tidemark.synced_table union all select 0) t
      cross join lateral (
        select xid from tidemark.change where table_id = t.id and xid > e.after and xid < e.before order by xid desc limit 1
      ) logged
      order by logged.xid desc limit 1
    ) newest
    limit 1
  ))::text,
  'tick', newest.id,
  'diverged', named_tick is not null and named_tick is distinct from newest.id and not exists (
    select from tidemark.tick where id = named_tick
  ),
  'horizon', m.horizon::text,
  'aging', m.aging::text,
  'changes', (
    select coalesce(json_agg(json_build_array(t.id, c.rows, c.xids)), '[]')
    from unnest((select tables)) t (id)
    cross join lateral (
      select sum(x.rows) as rows, case when listed then json_agg(json_build_array(x.xid::text, x.rows)) end as xids
      from (
        select counted.xid, count(*) as rows
        from (
          select change.xid from unseen
          cross join lateral (
            select xid from tidemark.change
            where table_id = t.id and xid between low and high and xid > after and xid < before order by xid limit 10000
          ) change
          limit 10000
        ) counted
        group by counted.xid
      ) x
    ) c
    where c.rows > 0
  ),
  'truncations', (
    select coalesce(json_agg(distinct jsonb_build_array(table_id, xid::text)), '[]')
    from unseen
    join tidemark.change on key is null and table_id = any (tables) and xid between low and high
      and xid > after and xid < before
  ),
  'mutations', (
    select coalesce(json_agg(json_build_array(c.key[1], g.user_id, c.xid::text)), '[]')
    from (
      select change.* from unseen
      cross join lateral (
        select key, xid from tidemark.change
        where table_id = 0 and xid between low and high and xid > after and xid < before order by xid limit 1000
      ) change
      where listed
      limit 1000
    ) c
    left join tidemark.client_group g on g.id = c.key[1]
  ),
  'groups', (
    select coalesce(json_object_agg(id, json_build_array(
      (select user_id from tidemark.client_group g where g.id = asked.id),
      (
        select coalesce(json_agg(json_build_array(c.id, c.last_mutation_id, c.xid::text)), '[]')
        from tidemark.client c where c.client_group_id = asked.id
      )
    )), '{}')
    from unnest((select group_ids)) asked (id)
  )
)
from tidemark.meta m
cross join pg_current_snapshot() s
left join lateral (select id from tidemark.tick where xid < pg_snapshot_xmin(s) order by xid desc limit 1) newest on true
$$;
