function capture_1()
  fv {postgres=X/postgres} CREATE OR REPLACE FUNCTION tidemark.capture_1()
   RETURNS trigger
   LANGUAGE plpgsql
   SECURITY DEFINER
   SET search_path TO 'pg_catalog', 'pg_temp'
   SET "DateStyle" TO 'ISO, YMD'
   SET "IntervalStyle" TO 'iso_8601'
   SET extra_float_digits TO '1'
  AS $function$
  #variable_conflict use_variable
  declare
    at_depth text := 'tidemark.statement_' || pg_trigger_depth();
    this_statement integer;
  begin
    if tg_when = 'BEFORE' then
      this_statement := coalesce(nullif(current_setting('tidemark.statements', true), '')::integer, 0) + 1;
      perform set_config('tidemark.statements', this_statement::text, true), set_config(at_depth, this_statement::text, true);
      return null;
    end if;
    this_statement := coalesce(nullif(current_setting(at_depth, true), '')::integer, 0);
    case
    when tg_op = 'INSERT' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      select 1, pg_current_xact_id(), this_statement, array[n."id"::text], null from new_rows n;
    when tg_op = 'UPDATE' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      select 1, pg_current_xact_id(), this_statement, array[o."id"::text], (o.*)::text from old_rows o
      union all
      select 1, pg_current_xact_id(), this_statement, array[n."id"::text], null from new_rows n
      where not exists (select from old_rows o where o."id"::text collate "C" = n."id"::text collate "C");
    when tg_op = 'DELETE' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      select 1, pg_current_xact_id(), this_statement, array[o."id"::text], (o.*)::text from old_rows o;
    when tg_op = 'TRUNCATE' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      values (1, pg_current_xact_id(), this_statement, null, null);
    end case;
    return null;
  end
  $function$


function capture_2()
  fv {postgres=X/postgres} CREATE OR REPLACE FUNCTION tidemark.capture_2()
   RETURNS trigger
   LANGUAGE plpgsql
   SECURITY DEFINER
   SET search_path TO 'pg_catalog', 'pg_temp'
   SET "DateStyle" TO 'ISO, YMD'
   SET "IntervalStyle" TO 'iso_8601'
   SET extra_float_digits TO '1'
  AS $function$
  #variable_conflict use_variable
  declare
    at_depth text := 'tidemark.statement_' || pg_trigger_depth();
    this_statement integer;
  begin
    if pg_partition_root(tg_relid) is distinct from (select relation from tidemark.synced_table where id = 2) then
      return null;
    end if;
    if tg_when = 'BEFORE' then
      this_statement := coalesce(nullif(current_setting('tidemark.statements', true), '')::integer, 0) + 1;
      perform set_config('tidemark.statements', this_statement::text, true), set_config(at_depth, this_statement::text, true);
      return null;
    end if;
    this_statement := coalesce(nullif(current_setting(at_depth, true), '')::integer, 0);
    case
    when tg_level = 'ROW' and tg_op = 'INSERT' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      values (2, pg_current_xact_id(), this_statement, array[new."id"::text, new."day"::text], null);
    when tg_level = 'ROW' and tg_op = 'DELETE' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      values (2, pg_current_xact_id(), this_statement, array[old."id"::text, old."day"::text], row(old."id", old."day")::text);
    when tg_op = 'INSERT' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      select 2, pg_current_xact_id(), this_statement, array[n."id"::text, n."day"::text], null from new_rows n;
    when tg_op = 'UPDATE' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      select 2, pg_current_xact_id(), this_statement, array[o."id"::text, o."day"::text], (o.*)::text from old_rows o
      union all
      select 2, pg_current_xact_id(), this_statement, array[n."id"::text, n."day"::text], null from new_rows n
      where not exists (select from old_rows o where o."id"::text collate "C" = n."id"::text collate "C" and o."day"::text collate "C" = n."day"::text collate "C");
    when tg_op = 'DELETE' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      select 2, pg_current_xact_id(), this_statement, array[o."id"::text, o."day"::text], (o.*)::text from old_rows o;
    when tg_op = 'TRUNCATE' then
      insert into tidemark.change (table_id, xid, statement, key, old)
      values (2, pg_current_xact_id(), this_statement, null, null);
    end case;
    return null;
  end
  $function$


function null_key(text)
  fs  CREATE OR REPLACE FUNCTION tidemark.null_key(view_name text)
   RETURNS text
   LANGUAGE plpgsql
   STABLE
  AS $function$
  begin
    raise exception 'a row of the view "%" has no key', view_name using errcode = 'null_value_not_allowed';
  end
  $function$


table change
  seq bigint not null generated always as identity
  table_id integer not null
  xid xid8 not null
  statement integer not null
  key text[]
  old text
  CREATE INDEX change_table_id_xid ON tidemark.change USING btree (table_id, xid)
  CREATE INDEX change_truncate ON tidemark.change USING btree (xid) WHERE (key IS NULL)

table client
  id text not null
  client_group_id text not null
  last_mutation_id bigint not null
  xid xid8 not null
  CREATE INDEX client_client_group_id ON tidemark.client USING btree (client_group_id)
  CREATE UNIQUE INDEX client_pkey ON tidemark.client USING btree (id)
  FOREIGN KEY (client_group_id) REFERENCES tidemark.client_group(id)
  PRIMARY KEY (id)

table client_group
  id text not null
  user_id text not null
  created_at timestamp with time zone not null default now()
  CREATE UNIQUE INDEX client_group_pkey ON tidemark.client_group USING btree (id)
  PRIMARY KEY (id)

table meta
  singleton boolean not null default true
  install_id uuid not null default gen_random_uuid()
  secret text not null default ((gen_random_uuid())::text || (gen_random_uuid())::text)
  horizon xid8 not null default pg_current_xact_id()
  CREATE UNIQUE INDEX meta_pkey ON tidemark.meta USING btree (singleton)
  PRIMARY KEY (singleton)
  CHECK (singleton)

table migration
  version integer not null
  file text not null
  applied_at timestamp with time zone not null default now()
  CREATE UNIQUE INDEX migration_pkey ON tidemark.migration USING btree (version)
  PRIMARY KEY (version)

table synced_table
  id integer not null generated always as identity
  relation regclass not null
  CREATE UNIQUE INDEX synced_table_pkey ON tidemark.synced_table USING btree (id)
  CREATE UNIQUE INDEX synced_table_relation_key ON tidemark.synced_table USING btree (relation)
  PRIMARY KEY (id)
  UNIQUE (relation)

table tick
  at timestamp with time zone not null default clock_timestamp()
  oldest_xid xid8 not null
  CREATE UNIQUE INDEX tick_pkey ON tidemark.tick USING btree (at)
  PRIMARY KEY (at)

function stamp()
  fv  CREATE OR REPLACE FUNCTION public.stamp()
   RETURNS trigger
   LANGUAGE plpgsql
  AS $function$begin return new; end$function$


table event
  id integer not null
  day date not null
  CREATE UNIQUE INDEX event_pkey ON ONLY public.event USING btree (id, day)
  PRIMARY KEY (id, day)
  CREATE TRIGGER tidemark_before BEFORE INSERT OR DELETE OR UPDATE ON public.event FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_row_delete AFTER DELETE ON public.event FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_row_insert AFTER INSERT ON public.event FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_truncate AFTER TRUNCATE ON public.event FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_update AFTER UPDATE ON public.event REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_2() -- enabled: A

table event_2026
  id integer not null
  day date not null
  CREATE UNIQUE INDEX event_2026_pkey ON public.event_2026 USING btree (id, day)
  PRIMARY KEY (id, day)
  CREATE TRIGGER tidemark_before BEFORE INSERT OR DELETE OR UPDATE ON public.event_2026 FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_row_delete AFTER DELETE ON public.event_2026 FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_row_insert AFTER INSERT ON public.event_2026 FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_truncate AFTER TRUNCATE ON public.event_2026 FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_update AFTER UPDATE ON public.event_2026 REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_2() -- enabled: A

table todo
  PRIMARY KEY (id)
  CREATE TRIGGER stamp BEFORE INSERT ON public.todo FOR EACH ROW EXECUTE FUNCTION public.stamp() -- enabled: O
  CREATE TRIGGER tidemark_before BEFORE INSERT OR DELETE OR UPDATE ON public.todo FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_1() -- enabled: A
  CREATE TRIGGER tidemark_delete AFTER DELETE ON public.todo REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_1() -- enabled: A
  CREATE TRIGGER tidemark_insert AFTER INSERT ON public.todo REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_1() -- enabled: A
  CREATE TRIGGER tidemark_truncate AFTER TRUNCATE ON public.todo FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_1() -- enabled: A
  CREATE TRIGGER tidemark_update AFTER UPDATE ON public.todo REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_1() -- enabled: A
  id text not null
  "list ID" text not null
  title text default 'x'::text
  sort numeric(8,2)
  CREATE INDEX "todo_list ID_idx" ON public.todo USING btree ("list ID")
  CREATE UNIQUE INDEX todo_pkey ON public.todo USING btree (id)
