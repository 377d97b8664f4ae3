-- What must be known to answer pulls, at the snapshot of the calling statement. All of the pulls are of one client view
-- and one base. The first three arrays hold, for each pull: its client group; whether the cookie was given to that
-- group, so that only mutation IDs that have changed since are wanted; and the client that it names, or null.
--
-- What the base has not seen is given as ranges of transaction IDs. Each range is read from the index, in the index's
-- order, so that no estimate can lead Postgres to read the whole table. The arrays are in subqueries so that estimates
-- do not depend on the values: otherwise Postgres would keep planning a prepared statement anew each time, which takes
-- longer than running it.
--
-- In FROM, Postgres inlines this query into the calling one: best for a statement that is prepared.
create function tidemark.headers(
  group_ids text[], same_groups boolean[], client_ids text[], lows xid8[], highs xid8[], tables integer[], named_tick uuid
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
  'installID', m.install_id,
  'database', (select oid::text from pg_database where datname = current_database()),
  'tick', newest.id,
  'diverged', named_tick is not null and named_tick is distinct from newest.id and not exists (
    select from tidemark.tick where id = named_tick
  ),
  'horizon', m.horizon::text,
  'aging', m.aging::text,
  'members', (
    select json_object_agg(place, json_build_object(
      'owner', (select user_id from tidemark.client_group where id = group_id),
      'clientKnown', client_id is null or exists (
        select from tidemark.client where id = client_id and client_group_id = group_id
      ),
      'lastMutationIDs', moved,
      'mutations', mutations
    ))
    from unnest((select group_ids), (select same_groups), (select client_ids))
      with ordinality member (group_id, same_group, client_id, place)
    cross join lateral (
      select coalesce(sum(last_mutation_id), 0) as mutations, json_object_agg(id, last_mutation_id) filter (
        where not same_group or exists (select from unseen where xid between low and high)
      ) as moved
      from tidemark.client where client_group_id = group_id
    ) clients
  ),
  'changed', (
    select coalesce(json_agg(json_build_array(t.id, c.rows)), '[]')
    from unnest((select tables)) t (id)
    cross join lateral (
      select count(*) as rows from (
        select from unseen
        cross join lateral (
          select from tidemark.change where table_id = t.id and xid between low and high order by xid limit 100
        ) changes
        limit 100
      ) counted
    ) c
    where c.rows > 0
  ),
  'truncated', exists (
    select from unseen
    join tidemark.change on key is null and table_id = any (tables) and xid between low and high
  )
)
from tidemark.meta m
cross join pg_current_snapshot() s
left join lateral (select id from tidemark.tick where xid < pg_snapshot_xmin(s) order by xid desc limit 1) newest on true
$$;

-- The same with a plan of its own, which is cached: best for a statement that is planned each time, since this query
-- takes longer to plan than to run.
create function tidemark.header(
  group_ids text[], same_groups boolean[], client_ids text[], lows xid8[], highs xid8[], tables integer[], named_tick uuid
) returns json
language plpgsql stable parallel restricted as $$
begin
  return (select h from tidemark.headers(group_ids, same_groups, client_ids, lows, highs, tables, named_tick) h);
end
$$;
