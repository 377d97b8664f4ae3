-- The table_id -1 in the change log says that the user in "key" was disconnected: every server ends the streams and waiting
-- reads of this user. In the transaction that deletes the user's sessions, it takes effect with the same commit.
create function tidemark.disconnect(user_id text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $$
begin
  if coalesce(user_id, '') = '' then
    raise exception 'tidemark.disconnect needs the ID of a user' using errcode = 'invalid_parameter_value';
  end if;
  insert into tidemark.change (table_id, xid, key) values (-1, pg_current_xact_id(), array[user_id]);
end
$$;

revoke all on function tidemark.disconnect(text) from public;

-- Whoever may write ticks is a server, and may disconnect users.
do $$
declare
  granted record;
begin
  for granted in
    select a.grantee from pg_class c, aclexplode(c.relacl) a
    where c.oid = 'tidemark.tick'::regclass and a.grantee <> c.relowner and a.privilege_type = 'INSERT'
  loop
    execute format('grant execute on function tidemark.disconnect(text) to %s',
      case granted.grantee when 0 then 'public' else granted.grantee::regrole::text end);
  end loop;
end
$$;

-- The same as before, but a disconnect is among what transactions leave: otherwise, snapshots would not have seen it.
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
  'history', tidemark.history(),
  'kept', greatest((select xid from tidemark.tick order by xid desc limit 1), (
    select newest.xid from (select * from ended order by before desc) e
    cross join lateral (
      select logged.xid from (select id from tidemark.synced_table union all select 0 union all select -1) t
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
where m.singleton
$$;
