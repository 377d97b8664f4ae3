-- The timelines of the database's history: each begins where a standby was promoted, or a backup restored. They tell
-- whether the database includes what a cookie has seen before.
create table tidemark.timeline (
  system_identifier bigint not null,
  -- As Postgres counts them. Two standbys that are both promoted give theirs the same number.
  number integer not null,
  id text not null default left(replace(gen_random_uuid()::text, '-', ''), 12),
  -- A position on the timeline before: up to there, all of it is known to be included. Null if nothing is known.
  since pg_lsn,
  at timestamptz not null default clock_timestamp(),
  primary key (system_identifier, number)
);

-- Which timeline the tick was written on, and a position that comes before the tick; and the newest form of cookies that
-- its writer can read. Null if that is a version that only knows the first form.
alter table tidemark.tick add column timeline integer, add column position pg_lsn, add column cookie_form integer;

-- Servers of the version before may be running: they read timelines from now on, too. Whoever may read and write ticks
-- may do the same with timelines.
do $$
declare
  granted record;
begin
  for granted in
    select a.grantee, a.privilege_type from pg_class c, aclexplode(c.relacl) a
    where c.oid = 'tidemark.tick'::regclass and a.grantee <> c.relowner and a.privilege_type in ('SELECT', 'INSERT', 'DELETE')
  loop
    execute format('grant %s on tidemark.timeline, tidemark.expansion to %s', granted.privilege_type,
      case granted.grantee when 0 then 'public' else granted.grantee::regrole::text end);
  end loop;
end
$$;

-- The number of the timeline that a primary is on. The control file tells it only from the next checkpoint on.
create function tidemark.timeline_number() returns integer
language sql volatile parallel restricted as $$
select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
$$;

-- Records the timeline that a primary is on, if nobody has done so.
--
-- Postgres says what it has replayed last: a promoted standby up to the end of the timeline before, so that is where they
-- part; and a primary that has recovered from a crash up to the crash. Only the former has asked a primary for more since
-- its shared memory was set up, which a crash does anew. If there may be another timeline between the two, or it is not
-- known where they part, they part behind the newest tick of the one before. What a dump has brought along of another
-- cluster is of no use.
create function tidemark.record_timeline() returns void
language sql volatile parallel unsafe as $$
delete from tidemark.timeline where system_identifier <> (select system_identifier from pg_control_system());
insert into tidemark.timeline (system_identifier, number, since)
select c.system_identifier, present.number, coalesce(
    case when previous.number = present.number - 1 then
      case when pg_last_wal_receive_lsn() is not null then pg_last_wal_replay_lsn() end
    end,
    (
      select max(tick.position) from tidemark.tick
      where tick.system_identifier = c.system_identifier and tick.timeline = previous.number
    )
  )
from pg_control_system() c
cross join tidemark.timeline_number() present (number)
left join lateral (
  select max(number) as number from tidemark.timeline where system_identifier = c.system_identifier
) previous on true
on conflict do nothing
$$;

-- The timelines, and a position before which lies everything that the calling statement shows.
--
-- On a primary, a commit has been written before it is shown. On a standby, what is being replayed can be seen a moment
-- before it counts as replayed. While a receiver runs, it has received all of that. Otherwise it comes from an archive:
-- then the position is one that the end of a record that began before can hardly reach. The receiver is looked for
-- first: one that starts later starts behind what has been shown.
create function tidemark.history() returns json
language plpgsql stable parallel restricted as $$
declare
  present integer;
  lsn pg_lsn;
begin
  if not pg_is_in_recovery() then
    present := tidemark.timeline_number();
    lsn := pg_current_wal_lsn();
  elsif exists (select from pg_stat_wal_receiver) then
    lsn := greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn());
  else
    lsn := pg_last_wal_replay_lsn() + 16777216;
  end if;
  return (
    select json_build_object(
      'timelines', coalesce(json_agg(json_build_array(id, (since - '0/0')::text) order by number), '[]'),
      'current', case
        when present is null or max(number) = present then (array_agg(id order by number desc))[1]
      end,
      'lsn', (lsn - '0/0')::text
    )
    from tidemark.timeline
  );
end
$$;

-- As before, and the history. It is asked for after "recovery": where that says that the database is a primary, the
-- history is that of a primary, even if the standby was promoted a moment before.
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
