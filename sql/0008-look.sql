-- What must be known to answer pulls and to poke, at the snapshot of the calling statement: the state of the database,
-- what the log has that the ranges of transaction IDs include, and the records of some client groups.
--
-- Each range is read from the index, in the index's order, so that no estimate can lead Postgres to read the whole
-- table. The arrays are in subqueries so that estimates do not depend on the values: otherwise Postgres would keep
-- planning a prepared statement anew each time, which takes longer than running it.
--
-- If "listed" is true, the changes are listed by transaction, and mutations are listed too.
--
-- In FROM, Postgres inlines this query into the calling one: best for a statement that is prepared.
create function tidemark.looks(
  lows xid8[], highs xid8[], tables integer[], listed boolean, named_tick uuid, group_ids text[]
) returns setof json
language sql stable parallel restricted as $$
with unseen (low, high) as materialized (
  select * from unnest((select lows), (select highs))
)
select json_build_object(
  'snapshot', s::text,
  'standby', case when pg_is_in_recovery() then tidemark.seen_by_standby(tables) end,
  'begun', age(pg_snapshot_xmax(s)::xid),
  'recovery', pg_is_in_recovery(),
  'started', extract(epoch from pg_postmaster_start_time())::text,
  'installID', m.install_id,
  'database', (select oid::text from pg_database where datname = current_database()),
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
            select xid from tidemark.change where table_id = t.id and xid between low and high order by xid limit 10000
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
  ),
  'mutations', (
    select coalesce(json_agg(json_build_array(c.key[1], g.user_id, c.xid::text)), '[]')
    from (
      select change.* from unseen
      cross join lateral (
        select key, xid from tidemark.change where table_id = 0 and xid between low and high order by xid limit 1000
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

-- The same with a plan of its own, which is cached: best for a statement that is planned each time, since this query
-- takes longer to plan than to run.
create function tidemark.look(
  lows xid8[], highs xid8[], tables integer[], listed boolean, named_tick uuid, group_ids text[]
) returns json
language plpgsql stable parallel restricted as $$
begin
  return (select l from tidemark.looks(lows, highs, tables, listed, named_tick, group_ids) l);
end
$$;

drop function tidemark.header(text[], boolean[], text[], xid8[], xid8[], integer[], uuid);
drop function tidemark.headers(text[], boolean[], text[], xid8[], xid8[], integer[], uuid);
