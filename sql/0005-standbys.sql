-- What the primary had seen at that time. Whoever sees this row has seen all of that too: the row was committed after
-- it.
alter table tidemark.tick add column snapshot pg_snapshot;
-- A dump contains the snapshots of another cluster.
alter table tidemark.tick add column system_identifier bigint;

-- Postgres does not say which transactions a standby's snapshot regards as in progress. But three things tell what such
-- a snapshot has seen. It has seen everything below its xmin. It has seen everything that a snapshot of the primary had
-- seen, if that snapshot's row is visible. Otherwise, as far as these tables and the client groups are concerned, it
-- has seen every transaction that left a visible row in the log. These are not listed if there are too many rows to
-- read.
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
