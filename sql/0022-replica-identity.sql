-- Tables without a primary key need another replica identity: as soon as a publication includes them, as one FOR ALL
-- TABLES does, Postgres refuses to update or delete their rows. The whole row costs nothing unless wal_level is logical;
-- then the WAL also has each deleted row. An index on a unique column would cost every write that is captured.
alter table tidemark.journal replica identity full;

-- All who write to synced tables wait behind whoever waits for this lock, and a backup holds a lock that conflicts with
-- it for hours. So each wait is short, and there are many.
do $$
declare
  attempts constant integer := 30;
  previous constant text := current_setting('lock_timeout');
begin
  perform set_config('lock_timeout', '500ms', true);
  for attempt in 1..attempts loop
    begin
      alter table tidemark.change replica identity full;
      exit;
    exception when lock_not_available then
      if attempt = attempts then
        raise;
      end if;
      perform pg_sleep(1);
    end;
  end loop;
  perform set_config('lock_timeout', previous, true);
end
$$;
