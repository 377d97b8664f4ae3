-- Which database this is, its newest witness that every transaction in progress is younger than, and whether it lacks the one that is named.
-- A function, since its plans are kept: in a statement that is planned each time, these lookups cost more to plan than to run.
create function tidemark.witness(named uuid, out database oid, out newest uuid, out diverged boolean)
language plpgsql stable parallel restricted as $$
begin
  database := (select d.oid from pg_database d where d.datname = current_database());
  newest := (select t.id from tidemark.tick t where t.xid < pg_snapshot_xmin(pg_current_snapshot()) order by t.xid desc limit 1);
  diverged := named is distinct from newest and named is not null and not exists (select from tidemark.tick t where t.id = named);
end
$$;
