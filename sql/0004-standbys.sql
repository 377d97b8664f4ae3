-- What the primary had seen at that moment. Whoever sees the row has seen all that too: the row was committed after it.
alter table tidemark.tick add column snapshot pg_snapshot;
-- A dump brings the snapshots of another cluster along.
alter table tidemark.tick add column system_identifier bigint;

-- Postgres does not say which transactions a standby's snapshot holds to be in progress. But what such a snapshot has seen can be told: all
-- that is below its xmin; all that a snapshot of the primary's had seen, if that one's row is visible; and else, as far as these tables and
-- the client groups are concerned, whoever left a visible row in the log. Of those no list is made where there are too many rows to read.
create function tidemark.seen_by_standby(tables integer[]) returns json
language plpgsql stable parallel safe as $$
declare
  most constant integer := 100000;
  lowest constant xid8 := pg_snapshot_xmin(pg_current_snapshot());
  known constant pg_snapshot := coalesce(
    (
      select snapshot from tidemark.tick
      where system_identifier = (select system_identifier from pg_control_system())
      order by at desc limit 1
    ),
    concat(lowest, ':', lowest, ':')::pg_snapshot
  );
begin
  return (
    select json_build_object(
      'known', known::text,
      'seen', case when count(*) < most then coalesce(array_agg(distinct xid), '{}') end
    )
    from (
      select c.xid
      from (
        select pg_snapshot_xmax(known), '18446744073709551615'::xid8
        union all
        select xip, xip from pg_snapshot_xip(known) xip
      ) unknown (low, high)
      cross join unnest(tables || 0) t (id)
      cross join lateral (
        select xid from tidemark.change
        where table_id = t.id and xid between greatest(unknown.low, lowest) and unknown.high
        order by xid limit most
      ) c
      limit most
    ) seen
  );
end
$$;

-- The rows that tell of a TRUNCATE of one of the tables, from a transaction on, as far as the statement's snapshot has seen them.
create function tidemark.truncates(tables integer[], since xid8) returns bigint[]
language plpgsql stable parallel safe as $$
begin
  return array(select seq from tidemark.change where key is null and table_id = any (tables) and xid >= since);
end
$$;

-- As before, but for the rows that are known to have been seen: a standby's snapshot does not tell of those between its xmin and xmax.
drop function tidemark.truncated_since(pg_snapshot, integer[]);
create function tidemark.truncated_since(seen pg_snapshot, tables integer[], known bigint[]) returns boolean
language plpgsql volatile parallel restricted as $$
begin
  return exists (
    select from tidemark.change
    where key is null and table_id = any (tables) and (
      not pg_visible_in_snapshot(xid, seen)
      or known is not null and xid >= pg_snapshot_xmin(seen) and seq <> all (known)
    )
  );
end
$$;
