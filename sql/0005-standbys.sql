-- What the primary had seen at that moment. Whoever sees the row has seen all that too: the row was committed after it.
alter table tidemark.tick add column snapshot pg_snapshot;
-- A dump brings the snapshots of another cluster along.
alter table tidemark.tick add column system_identifier bigint;

-- Postgres does not say which transactions a standby's snapshot holds to be in progress. But what such a snapshot has
-- seen can be told: all that is below its xmin; all that a snapshot of the primary's had seen, if that one's row is
-- visible; and else, as far as these tables and the client groups are concerned, whoever left a visible row in the log.
-- Of those no list is made where there are too many rows to read.
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
