function capture_1()
  fv {postgres=X/postgres} CREATE OR REPLACE FUNCTION tidemark.capture_1()
   RETURNS trigger
   LANGUAGE plpgsql
   SECURITY DEFINER
   SET search_path TO 'pg_catalog', 'pg_temp'
   SET jit TO 'off'
  AS $function$
  declare
    logged bigint;
    is_empty boolean;
  begin
    if tg_op = 'UPDATE' then
      insert into tidemark.change (table_id, xid, key, old, new_hash) select 1, pg_current_xact_id(), array[o."id"::text collate "C"], case when tidemark.has_fixed_text(1) then (o.*)::text else tidemark.fixed_text(o.*) end, hashtextextended(case when tidemark.has_fixed_text(1) then (n.*)::text else tidemark.fixed_text(n.*) end, 0)
      from old_rows o cross join new_rows n where not exists (select from old_rows offset 1) and o."id"::text collate "C" is not distinct from n."id"::text collate "C";
      get diagnostics logged = row_count;
      if logged = 0 then
        insert into tidemark.change (table_id, xid, key, old, new_hash) select 1, pg_current_xact_id(), array[coalesce(o."id"::text collate "C", n."id"::text collate "C")], case when tidemark.has_fixed_text(1) then (o.*)::text else tidemark.fixed_text(o.*) end, hashtextextended(case when tidemark.has_fixed_text(1) then (n.*)::text else tidemark.fixed_text(n.*) end, 0)
        from old_rows o full join new_rows n on o."id"::text collate "C" = n."id"::text collate "C";
        get diagnostics logged = row_count;
        if logged <> (select count(*) from old_rows) then
          insert into tidemark.change (table_id, xid, key, old, new_hash) select 1, pg_current_xact_id(), array[o."id"::text collate "C"], null, hashtextextended(case when tidemark.has_fixed_text(1) then (o.*)::text else tidemark.fixed_text(o.*) end, 0) from old_rows o join (select n."id"::text collate "C" as k1, count(*) as times from new_rows n group by 1) c on o."id"::text collate "C" = c.k1
          cross join generate_series(2, c.times);
          insert into tidemark.change (table_id, xid, key, old, new_hash) select 1, pg_current_xact_id(), array[n."id"::text collate "C"], case when tidemark.has_fixed_text(1) then (n.*)::text else tidemark.fixed_text(n.*) end, null from new_rows n join (select o."id"::text collate "C" as k1, count(*) as times from old_rows o group by 1) c on n."id"::text collate "C" = c.k1
          cross join generate_series(2, c.times);
        end if;
      end if;
    elsif tg_op = 'INSERT' then
      insert into tidemark.change (table_id, xid, key, old, new_hash) select 1, pg_current_xact_id(), array[n."id"::text collate "C"], null, hashtextextended(case when tidemark.has_fixed_text(1) then (n.*)::text else tidemark.fixed_text(n.*) end, 0) from new_rows n;
    elsif tg_op = 'DELETE' then
      insert into tidemark.change (table_id, xid, key, old, new_hash) select 1, pg_current_xact_id(), array[o."id"::text collate "C"], case when tidemark.has_fixed_text(1) then (o.*)::text else tidemark.fixed_text(o.*) end, null from old_rows o;
    else
      if current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
        and has_table_privilege(tg_relid, 'select') and not row_security_active(tg_relid)
        and coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(tg_relid)), pg_relation_size(tg_relid))
          <= 4194304 then
        execute format('select not exists (select from %s)', tg_relid::regclass) into is_empty;
      end if;
      if is_empty is not true then
        insert into tidemark.change (table_id, xid, key, old, new_hash) select 1, pg_current_xact_id(), null, null, null;
      end if;
    end if;
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
   SET "TimeZone" TO 'UTC'
   SET bytea_output TO 'hex'
   SET lc_monetary TO 'C'
  AS $function$
  declare
    old_text text;
    new_text text;
    is_empty boolean;
  begin
    if tg_op = 'UPDATE' then
      old_text := (old.*)::text;
      new_text := (new.*)::text;
      if old."id" = new."id" and old."day"::text collate "C" = new."day"::text collate "C" then
        insert into tidemark.change (table_id, xid, key, old, new_hash, partition) select 2, pg_current_xact_id(), array[old."id"::text collate "C", old."day"::text collate "C"], old_text, hashtextextended(new_text, 0), tg_relid;
      else
        insert into tidemark.change (table_id, xid, key, old, new_hash, partition) select 2, pg_current_xact_id(), array[old."id"::text collate "C", old."day"::text collate "C"], old_text, null, tg_relid;
        insert into tidemark.change (table_id, xid, key, old, new_hash, partition) select 2, pg_current_xact_id(), array[new."id"::text collate "C", new."day"::text collate "C"], null, hashtextextended(new_text, 0), tg_relid;
      end if;
    elsif tg_op = 'INSERT' then
      new_text := (new.*)::text;
      insert into tidemark.change (table_id, xid, key, old, new_hash, partition) select 2, pg_current_xact_id(), array[new."id"::text collate "C", new."day"::text collate "C"], null, hashtextextended(new_text, 0), tg_relid;
    elsif tg_op = 'DELETE' then
      old_text := (old.*)::text;
      insert into tidemark.change (table_id, xid, key, old, new_hash, partition) select 2, pg_current_xact_id(), array[old."id"::text collate "C", old."day"::text collate "C"], old_text, null, tg_relid;
    else
      if current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
        and has_table_privilege(tg_relid, 'select') and not row_security_active(tg_relid)
        and coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(tg_relid)), pg_relation_size(tg_relid))
          <= 4194304 then
        execute format('select not exists (select from %s)', tg_relid::regclass) into is_empty;
      end if;
      if is_empty is not true then
        insert into tidemark.change (table_id, xid, key, old, new_hash, partition) select 2, pg_current_xact_id(), null, null, null, tg_relid;
      end if;
    end if;
    return null;
  end
  $function$


function capture_3()
  fv {postgres=X/postgres} CREATE OR REPLACE FUNCTION tidemark.capture_3()
   RETURNS trigger
   LANGUAGE plpgsql
   SECURITY DEFINER
   SET search_path TO 'pg_catalog', 'pg_temp'
   SET jit TO 'off'
  AS $function$
  declare
    logged bigint;
    is_empty boolean;
  begin
    if tg_op = 'UPDATE' then
      insert into tidemark.change (table_id, xid, key, old, new_hash) select 3, pg_current_xact_id(), array[o."user_id"::text collate "C", o."profile_id"::text collate "C", o."client_id"::text collate "C", o."mutation_id"::text collate "C"], case when tidemark.has_fixed_text(3) then (o.*)::text else tidemark.fixed_text(o.*) end, hashtextextended(case when tidemark.has_fixed_text(3) then (n.*)::text else tidemark.fixed_text(n.*) end, 0)
      from old_rows o cross join new_rows n where not exists (select from old_rows offset 1) and o."user_id"::text collate "C" is not distinct from n."user_id"::text collate "C" and o."profile_id"::text collate "C" is not distinct from n."profile_id"::text collate "C" and o."client_id"::text collate "C" is not distinct from n."client_id"::text collate "C" and o."mutation_id" is not distinct from n."mutation_id";
      get diagnostics logged = row_count;
      if logged = 0 then
        insert into tidemark.change (table_id, xid, key, old, new_hash) select 3, pg_current_xact_id(), array[coalesce(o."user_id"::text collate "C", n."user_id"::text collate "C"), coalesce(o."profile_id"::text collate "C", n."profile_id"::text collate "C"), coalesce(o."client_id"::text collate "C", n."client_id"::text collate "C"), coalesce(o."mutation_id"::text collate "C", n."mutation_id"::text collate "C")], case when tidemark.has_fixed_text(3) then (o.*)::text else tidemark.fixed_text(o.*) end, hashtextextended(case when tidemark.has_fixed_text(3) then (n.*)::text else tidemark.fixed_text(n.*) end, 0)
        from old_rows o full join new_rows n on o."user_id"::text collate "C" = n."user_id"::text collate "C" and o."profile_id"::text collate "C" = n."profile_id"::text collate "C" and o."client_id"::text collate "C" = n."client_id"::text collate "C" and o."mutation_id" = n."mutation_id";
        get diagnostics logged = row_count;
        if logged <> (select count(*) from old_rows) then
          insert into tidemark.change (table_id, xid, key, old, new_hash) select 3, pg_current_xact_id(), array[o."user_id"::text collate "C", o."profile_id"::text collate "C", o."client_id"::text collate "C", o."mutation_id"::text collate "C"], null, hashtextextended(case when tidemark.has_fixed_text(3) then (o.*)::text else tidemark.fixed_text(o.*) end, 0) from old_rows o join (select n."user_id"::text collate "C" as k1, n."profile_id"::text collate "C" as k2, n."client_id"::text collate "C" as k3, n."mutation_id"::text collate "C" as k4, count(*) as times from new_rows n group by 1, 2, 3, 4) c on o."user_id"::text collate "C" = c.k1 and o."profile_id"::text collate "C" = c.k2 and o."client_id"::text collate "C" = c.k3 and o."mutation_id"::text collate "C" = c.k4
          cross join generate_series(2, c.times);
          insert into tidemark.change (table_id, xid, key, old, new_hash) select 3, pg_current_xact_id(), array[n."user_id"::text collate "C", n."profile_id"::text collate "C", n."client_id"::text collate "C", n."mutation_id"::text collate "C"], case when tidemark.has_fixed_text(3) then (n.*)::text else tidemark.fixed_text(n.*) end, null from new_rows n join (select o."user_id"::text collate "C" as k1, o."profile_id"::text collate "C" as k2, o."client_id"::text collate "C" as k3, o."mutation_id"::text collate "C" as k4, count(*) as times from old_rows o group by 1, 2, 3, 4) c on n."user_id"::text collate "C" = c.k1 and n."profile_id"::text collate "C" = c.k2 and n."client_id"::text collate "C" = c.k3 and n."mutation_id"::text collate "C" = c.k4
          cross join generate_series(2, c.times);
        end if;
      end if;
    elsif tg_op = 'INSERT' then
      insert into tidemark.change (table_id, xid, key, old, new_hash) select 3, pg_current_xact_id(), array[n."user_id"::text collate "C", n."profile_id"::text collate "C", n."client_id"::text collate "C", n."mutation_id"::text collate "C"], null, hashtextextended(case when tidemark.has_fixed_text(3) then (n.*)::text else tidemark.fixed_text(n.*) end, 0) from new_rows n;
    elsif tg_op = 'DELETE' then
      insert into tidemark.change (table_id, xid, key, old, new_hash) select 3, pg_current_xact_id(), array[o."user_id"::text collate "C", o."profile_id"::text collate "C", o."client_id"::text collate "C", o."mutation_id"::text collate "C"], case when tidemark.has_fixed_text(3) then (o.*)::text else tidemark.fixed_text(o.*) end, null from old_rows o;
    else
      if current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
        and has_table_privilege(tg_relid, 'select') and not row_security_active(tg_relid)
        and coalesce((select sum(pg_relation_size(relid)) from pg_partition_tree(tg_relid)), pg_relation_size(tg_relid))
          <= 4194304 then
        execute format('select not exists (select from %s)', tg_relid::regclass) into is_empty;
      end if;
      if is_empty is not true then
        insert into tidemark.change (table_id, xid, key, old, new_hash) select 3, pg_current_xact_id(), null, null, null;
      end if;
    end if;
    return null;
  end
  $function$


function changed_keys(integer[],xid8[],xid8[],integer)
  fs  CREATE OR REPLACE FUNCTION tidemark.changed_keys(tables integer[], lows xid8[], highs xid8[], max_rows integer, OUT keys integer, OUT changes integer)
   RETURNS record
   LANGUAGE sql
   STABLE PARALLEL RESTRICTED
   SET enable_seqscan TO 'off'
   SET enable_bitmapscan TO 'off'
   SET jit TO 'off'
  AS $function$
  select count(*)::integer, coalesce(sum(c.changes), 0)::integer
  from (
    select count(*) as changes
    from (
      select logged.* from unnest(tables) t (id)
      cross join unnest(lows, highs) unseen (low, high)
      cross join lateral (
        select table_id, key from tidemark.change
        where table_id = t.id and xid between low and high and hashtextextended(old, 0) is distinct from new_hash
        order by xid limit max_rows
      ) logged
      limit max_rows
    ) l
    group by l.table_id, l.key
  ) c
  $function$


function claim_key(text,text,double precision)
  fv  CREATE OR REPLACE FUNCTION tidemark.claim_key(of_user text, of_key text, retention_seconds double precision, OUT locked boolean, OUT fingerprint text, OUT answer text)
   RETURNS record
   LANGUAGE plpgsql
  AS $function$
  begin
    locked := pg_try_advisory_xact_lock(hashtextextended(of_key, hashtextextended(of_user, 7)));
    select stored.fingerprint, stored.answer into claim_key.fingerprint, claim_key.answer
    from tidemark.idempotency_key stored
    where user_id = of_user and key = of_key and created_at > now() - make_interval(secs => retention_seconds);
  end
  $function$


function claim_mutation(text,text,text,bigint)
  fv  CREATE OR REPLACE FUNCTION tidemark.claim_mutation(of_client text, of_group text, of_user text, mutation bigint)
   RETURNS boolean
   LANGUAGE plpgsql
  AS $function$
  begin
    if mutation = 1 then
      -- If a concurrent push has inserted the row, this is a serialization failure, never a unique violation. A row that
      -- exists already is skipped: each try would wait for the transaction that updates it, and then fail.
      insert into tidemark.client (id, client_group_id, last_mutation_id, xid)
      select of_client, of_group, 1, pg_current_xact_id()
      where exists (select from tidemark.client_group where id = of_group and user_id = of_user)
        and not exists (select from tidemark.client where id = of_client)
      on conflict (id) do nothing;
    else
      update tidemark.client
      set last_mutation_id = mutation, xid = pg_current_xact_id()
      where id = of_client and client_group_id = of_group and last_mutation_id = mutation - 1
        and exists (select from tidemark.client_group where id = of_group and user_id = of_user);
    end if;
    return found;
  end
  $function$


function disconnect(text)
  fv {postgres=X/postgres} CREATE OR REPLACE FUNCTION tidemark.disconnect(user_id text)
   RETURNS void
   LANGUAGE plpgsql
   SECURITY DEFINER
   SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
  begin
    if coalesce(user_id, '') = '' then
      raise exception 'tidemark.disconnect needs the ID of a user' using errcode = 'invalid_parameter_value';
    end if;
    insert into tidemark.change (table_id, xid, key) values (-1, pg_current_xact_id(), array[user_id]);
  end
  $function$


function fields(text)
  fi  CREATE OR REPLACE FUNCTION tidemark.fields(image text)
   RETURNS text[]
   LANGUAGE sql
   IMMUTABLE PARALLEL SAFE STRICT
  AS $function$
  select array_agg(
      case when field[1] like '"%' then
        replace(replace(substr(field[1], 2, length(field[1]) - 2), '""', '"'), repeat(chr(92), 2), chr(92))
      else nullif(field[1], '') end
      order by ordinal
    )
  from regexp_matches(substr(image, 2, length(image) - 2) || ',', '("(?:[^"]|"")*"|[^,"]*),', 'g')
    with ordinality fields (field, ordinal)
  $function$


function fixed_date_time(text)
  fi  CREATE OR REPLACE FUNCTION tidemark.fixed_date_time(value text)
   RETURNS text
   LANGUAGE plpgsql
   IMMUTABLE PARALLEL SAFE STRICT
   SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
  begin
    if value ~* '(^|[^a-z])(now|today|tomorrow|yesterday)([^a-z]|$)' then
      raise exception 'a view cannot read text such as "now" as a date or time: its meaning changes' using errcode = 'invalid_datetime_format';
    end if;
    return value;
  end
  $function$


function fixed_text(record)
  fs  CREATE OR REPLACE FUNCTION tidemark.fixed_text(of_row record)
   RETURNS text
   LANGUAGE plpgsql
   STABLE PARALLEL SAFE STRICT
   SET "DateStyle" TO 'ISO, YMD'
   SET "IntervalStyle" TO 'iso_8601'
   SET extra_float_digits TO '1'
   SET "TimeZone" TO 'UTC'
   SET bytea_output TO 'hex'
   SET lc_monetary TO 'C'
  AS $function$
  begin
    return of_row::text;
  end
  $function$


function has_fixed_text(integer)
  fi  CREATE OR REPLACE FUNCTION tidemark.has_fixed_text(of_table integer)
   RETURNS boolean
   LANGUAGE plpgsql
   IMMUTABLE PARALLEL SAFE STRICT
   SET search_path TO 'pg_catalog', 'pg_temp'
   SET lock_timeout TO '1ms'
  AS $function$
  declare
    columns text;
    fixed text;
  begin
    begin
      columns := table_to_xmlschema((select relation from tidemark.synced_table where id = of_table), true, false, '');
    exception when feature_not_supported or lock_not_available then
      return false; -- This Postgres was built without libxml, or the table is being altered.
    end;
    foreach fixed in array array[
      '"SMALLINT', '"INTEGER', '"BIGINT', '"NUMERIC', '"BOOLEAN', '"CHAR', '"VARCHAR',
      '.pg_catalog.text', '.pg_catalog.uuid', '.pg_catalog.json', '.pg_catalog.jsonb',
      '.pg_catalog.inet', '.pg_catalog._bool', '.pg_catalog._int4', '.pg_catalog._int8', '.pg_catalog._numeric',
      '.pg_catalog._text', '.pg_catalog._varchar', '.pg_catalog._uuid'
    ] loop
      columns := replace(columns, fixed || '" nillable="true"', '');
    end loop;
    if columns not like '%nillable="true"%' then
      return true;
    end if;
    -- The other columns may have enum types. XML escapes some characters of names; names with such characters do not
    -- match.
    return not exists (
      select from regexp_matches(columns, 'type="([^"]*)" nillable="true"', 'g') other (type)
      cross join regexp_match(type[1], '^UDT\.[^.]*\.([a-zA-Z](?:[a-zA-Z0-9]|_(?!x))*)\.([a-zA-Z](?:[a-zA-Z0-9]|_(?!x))*)$') name
      where not exists (
        select from pg_type where typtype = 'e' and oid = to_regtype('"' || name[1] || '"."' || name[2] || '"')
      )
    );
  end
  $function$


function history()
  fs  CREATE OR REPLACE FUNCTION tidemark.history()
   RETURNS json
   LANGUAGE plpgsql
   STABLE PARALLEL RESTRICTED
  AS $function$
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
      from (select * from tidemark.timeline order by system_identifier, number) timeline
    );
  end
  $function$


function lock_row_formats(oid[])
  fv  CREATE OR REPLACE FUNCTION tidemark.lock_row_formats(tables oid[])
   RETURNS void
   LANGUAGE plpgsql
  AS $function$
  declare
    relation oid;
  begin
    lock table tidemark.row_format in share row exclusive mode;
    foreach relation in array tables loop
      execute format('lock table %s in access share mode', relation::regclass);
    end loop;
  end
  $function$


function log_mutation()
  fv {postgres=X/postgres} CREATE OR REPLACE FUNCTION tidemark.log_mutation()
   RETURNS trigger
   LANGUAGE plpgsql
   SECURITY DEFINER
   SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
  begin
    insert into tidemark.change (table_id, xid, key) values (0, new.xid, array[new.client_group_id]);
    return null;
  end
  $function$


function many_unseen(integer,xid8[],xid8[])
  fs  CREATE OR REPLACE FUNCTION tidemark.many_unseen(of_table integer, lows xid8[], highs xid8[])
   RETURNS SETOF tidemark.change
   LANGUAGE plpgsql
   STABLE PARALLEL SAFE
   SET jit TO 'off'
  AS $function$
  begin
    return query select * from tidemark.unseen(of_table, lows, highs);
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


function poll(xid8[],xid8[],integer[],boolean,uuid,text[])
  fs  CREATE OR REPLACE FUNCTION tidemark.poll(lows xid8[], highs xid8[], tables integer[], listed boolean, named_heartbeat uuid, group_ids text[])
   RETURNS json
   LANGUAGE plpgsql
   STABLE PARALLEL RESTRICTED
   SET plan_cache_mode TO 'force_generic_plan'
   SET enable_seqscan TO 'off'
   SET enable_bitmapscan TO 'off'
   SET jit TO 'off'
  AS $function$
  begin
    return (select l from tidemark.poll_inline(lows, highs, tables, listed, named_heartbeat, group_ids) l);
  end
  $function$


function poll_inline(xid8[],xid8[],integer[],boolean,uuid,text[])
  fs  CREATE OR REPLACE FUNCTION tidemark.poll_inline(lows xid8[], highs xid8[], tables integer[], listed boolean, named_heartbeat uuid, group_ids text[])
   RETURNS SETOF json
   LANGUAGE sql
   STABLE PARALLEL RESTRICTED
  AS $function$
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
    'xidsSinceXmax', age(pg_snapshot_xmax(s)::xid),
    'recovery', pg_is_in_recovery(),
    'serverStart', tidemark.server_start(),
    'installID', m.install_id,
    'database', (select oid::text from pg_database where datname = current_database()),
    'history', tidemark.history(),
    'durableXid', greatest((select xid from tidemark.heartbeat order by xid desc limit 1), (
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
    'heartbeat', newest.id,
    'diverged', named_heartbeat is not null and named_heartbeat is distinct from newest.id and not exists (
      select from tidemark.heartbeat where id = named_heartbeat
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
        (select user_id from tidemark.client_group g where g.id = requested.id),
        (
          select coalesce(json_agg(json_build_array(c.id, c.last_mutation_id, c.xid::text)), '[]')
          from tidemark.client c where c.client_group_id = requested.id
        )
      )), '{}')
      from unnest((select group_ids)) requested (id)
    )
  )
  from tidemark.meta m
  cross join pg_current_snapshot() s
  left join lateral (select id from tidemark.heartbeat where xid < pg_snapshot_xmin(s) order by xid desc limit 1) newest on true
  where m.singleton
  $function$


function record_timeline()
  fv  CREATE OR REPLACE FUNCTION tidemark.record_timeline()
   RETURNS void
   LANGUAGE sql
  AS $function$
  delete from tidemark.timeline where system_identifier <> (select system_identifier from pg_control_system());
  insert into tidemark.timeline (system_identifier, number, since)
  select c.system_identifier, present.number, coalesce(
      case when previous.number = present.number - 1 then
        case when pg_last_wal_receive_lsn() is not null then pg_last_wal_replay_lsn() end
      end,
      (
        select max(heartbeat.position) from tidemark.heartbeat
        where heartbeat.system_identifier = c.system_identifier and heartbeat.timeline = previous.number
      )
    )
  from pg_control_system() c
  cross join tidemark.timeline_number() present (number)
  left join lateral (
    select max(number) as number from tidemark.timeline where system_identifier = c.system_identifier
  ) previous on true
  on conflict do nothing
  $function$


function relation_fingerprint(oid)
  fv  CREATE OR REPLACE FUNCTION tidemark.relation_fingerprint(relation oid)
   RETURNS bigint
   LANGUAGE plpgsql
   PARALLEL RESTRICTED STRICT
  AS $function$
  begin
    return hashtextextended(concat_ws(' ', relation::regclass, row_security_active(relation), pg_relation_filenode(relation),
      (select string_agg(concat_ws(':', relid::oid, pg_relation_filenode(relid)), ',' order by relid) from pg_partition_tree(relation)),
      array(select inhrelid from pg_inherits where inhparent = relation order by inhrelid),
      array(select xmin from pg_attribute where attrelid = relation and attnum > 0 order by attnum),
      case when exists (select from pg_attribute where attrelid = relation and attnum > 0 and atttypid >= 16384) then
        tidemark.type_fingerprint(relation)
      end
    ), 0);
  end
  $function$


function relation_of(integer)
  fi  CREATE OR REPLACE FUNCTION tidemark.relation_of(of_table integer)
   RETURNS regclass
   LANGUAGE sql
   IMMUTABLE PARALLEL SAFE STRICT
  AS $function$
    select relation from tidemark.synced_table where id = of_table
  $function$


function row_format_of(integer,integer,text,integer[],integer[],integer[])
  fi  CREATE OR REPLACE FUNCTION tidemark.row_format_of(earliest integer, latest integer, image text, first_equal integer[], widths integer[], steps integer[])
   RETURNS integer
   LANGUAGE plpgsql
   IMMUTABLE PARALLEL SAFE
  AS $function$
  declare
    column_changes integer[] := steps[earliest + 1:latest];
    row_format integer;
  begin
    if first_equal[earliest + 1] = first_equal[latest + 1] then
      return first_equal[earliest + 1];
    end if;
    if array_position(column_changes, null) is not null or (1 = any (column_changes) and -1 = any (column_changes)) then
      raise exception 'a row was logged while its table was altered' using errcode = 'TM001';
    end if;
    if image is null then
      return null;
    end if;
    select min(first_equal[i + 1]) into row_format
    from generate_series(earliest, latest) i where widths[i + 1] = cardinality(tidemark.fields(image));
    if row_format is null then
      raise exception 'a row was logged while its table was altered' using errcode = 'TM001';
    end if;
    return row_format;
  end
  $function$


function seen_by_standby(integer[])
  fs  CREATE OR REPLACE FUNCTION tidemark.seen_by_standby(tables integer[])
   RETURNS json
   LANGUAGE plpgsql
   STABLE PARALLEL SAFE
  AS $function$
  declare
    max_rows constant integer := 100000;
    lowest constant xid8 := pg_snapshot_xmin(pg_current_snapshot());
    primary_snapshot constant pg_snapshot := coalesce(
      (
        select snapshot from tidemark.heartbeat
        where system_identifier = (select system_identifier from pg_control_system())
        order by at desc limit 1
      ),
      concat(lowest, ':', lowest, ':')::pg_snapshot
    );
  begin
    return (
      select json_build_object(
        'primary', primary_snapshot::text,
        'seen', case when count(*) < max_rows then coalesce(array_agg(distinct xid), '{}') end
      )
      from (
        select c.xid
        from (
          select pg_snapshot_xmax(primary_snapshot), '18446744073709551615'::xid8
          union all
          select xip, xip from pg_snapshot_xip(primary_snapshot) xip
        ) unknown (low, high)
        cross join unnest(tables || 0) t (id)
        cross join lateral (
          select xid from tidemark.change
          where table_id = t.id and xid between greatest(unknown.low, lowest) and unknown.high
          order by xid limit max_rows
        ) c
        limit max_rows
      ) seen
    );
  end
  $function$


function server_start()
  fs  CREATE OR REPLACE FUNCTION tidemark.server_start()
   RETURNS text
   LANGUAGE sql
   STABLE PARALLEL RESTRICTED
  AS $function$
  select concat(extract(epoch from pg_postmaster_start_time()), '/', extract(epoch from pg_stat_get_bgwriter_stat_reset_time()))
  $function$


function shows_table(oid)
  fs  CREATE OR REPLACE FUNCTION tidemark.shows_table(relation oid)
   RETURNS boolean
   LANGUAGE plpgsql
   STABLE PARALLEL RESTRICTED STRICT
  AS $function$
  begin
    return exists (
      select from tidemark.synced_table t join pg_class c on c.oid = t.relation
      where t.relation = shows_table.relation and case
        when c.relkind <> 'p' then c.relfilenode = pg_relation_filenode(c.oid)
        else not exists (
          with recursive shown (oid) as (
            select c.oid
            union all
            select inhrelid from shown join pg_inherits on inhparent = shown.oid where not inhdetachpending
          )
          select from shown full join pg_partition_tree(c.oid) present on present.relid = shown.oid
          left join pg_class part on part.oid = shown.oid
          where shown.oid is null or present.relid is null
            or nullif(part.relfilenode, 0) is distinct from pg_relation_filenode(shown.oid)
        )
      end
    );
  end
  $function$


function store_answer(text,text,text,text)
  fv  CREATE OR REPLACE FUNCTION tidemark.store_answer(of_user text, of_key text, new_fingerprint text, new_answer text)
   RETURNS void
   LANGUAGE plpgsql
  AS $function$
  begin
    insert into tidemark.idempotency_key (user_id, key, fingerprint, answer)
    values (of_user, of_key, new_fingerprint, new_answer)
    on conflict (user_id, key) do update
    set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at;
  end
  $function$


function store_views(text[],text[])
  fv  CREATE OR REPLACE FUNCTION tidemark.store_views(digests text[], definitions text[])
   RETURNS void
   LANGUAGE plpgsql
  AS $function$
  begin
    if current_setting('transaction_read_only')::boolean
      or not has_table_privilege('tidemark.view_catalog', 'insert') or not has_table_privilege('tidemark.view_catalog', 'delete') then
      return;
    end if;
    if not exists (
      select from unnest(digests) candidate (digest)
      left join tidemark.view_catalog recent on recent.digest = candidate.digest and at > clock_timestamp() - interval '1 day'
      where recent.digest is null
    ) then
      return;
    end if;
    lock table tidemark.view_catalog in share row exclusive mode;
    delete from tidemark.view_catalog where digest = any (digests) and at < clock_timestamp() - interval '1 day';
    insert into tidemark.view_catalog (digest, definition)
    select * from unnest(digests, definitions) entry (digest, definition)
    on conflict do nothing;
    if found then
      delete from tidemark.view_catalog
      where digest in (select digest from tidemark.view_catalog order by at desc, digest offset 1000);
    end if;
  end
  $function$


function timeline_number()
  fv  CREATE OR REPLACE FUNCTION tidemark.timeline_number()
   RETURNS integer
   LANGUAGE sql
   PARALLEL RESTRICTED
  AS $function$
  select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
  $function$


function type_fingerprint(oid)
  fv  CREATE OR REPLACE FUNCTION tidemark.type_fingerprint(relation oid)
   RETURNS bigint
   LANGUAGE plpgsql
   PARALLEL RESTRICTED STRICT
  AS $function$
  begin
    return (
      with recursive type (oid) as (
        select atttypid from pg_attribute where attrelid = relation and attnum > 0 and atttypid >= 16384
        union
        select part.oid from type cross join lateral (
          select unnest(array[t.typelem, t.typbasetype]
            || array(select rngsubtype from pg_range where t.oid in (rngtypid, rngmultitypid))
            || array(select atttypid from pg_attribute where attrelid = t.typrelid and attnum > 0))
          from pg_type t where t.oid = type.oid offset 0
        ) part (oid)
        where part.oid >= 16384
      )
      select hashtextextended(string_agg(concat_ws(' ', t.oid, t.xmin,
        array(select xmin from pg_attribute where attrelid = t.typrelid and attnum > 0 order by attnum),
        array(select xmin from pg_enum where enumtypid = t.oid order by enumsortorder)
      ), ',' order by t.oid), 0)
      from pg_type t where t.oid = any (array(select oid from type))
    );
  end
  $function$


function unclear_image()
  fv  CREATE OR REPLACE FUNCTION tidemark.unclear_image()
   RETURNS text
   LANGUAGE plpgsql
   PARALLEL SAFE
  AS $function$
  begin
    raise exception 'rows were logged while a type was altered' using errcode = 'TM001';
  end
  $function$


function unseen(integer,xid8[],xid8[])
  fs  CREATE OR REPLACE FUNCTION tidemark.unseen(of_table integer, lows xid8[], highs xid8[])
   RETURNS SETOF tidemark.change
   LANGUAGE plpgsql
   STABLE PARALLEL SAFE ROWS 1
   SET plan_cache_mode TO 'force_generic_plan'
   SET enable_seqscan TO 'off'
   SET jit TO 'off'
  AS $function$
  begin
    return query
      select c.* from unnest(lows, highs) u (low, high)
      cross join lateral (
        select * from tidemark.change where table_id = of_table and xid between low and high order by xid
      ) c;
  end
  $function$


table audit_log
  at timestamp with time zone not null default clock_timestamp()
  user_id text not null
  request_id text not null
  mutator text
  outcome text not null
  client_group_id text
  client_id text
  mutation_id bigint
  CREATE INDEX audit_log_at ON tidemark.audit_log USING btree (at)

table change
  table_id integer not null
  xid xid8 not null
  key text[]
  old text
  new_hash bigint
  partition oid
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
  CREATE TRIGGER tidemark_mutation AFTER INSERT OR UPDATE OF last_mutation_id ON tidemark.client FOR EACH ROW EXECUTE FUNCTION tidemark.log_mutation() -- enabled: A

table client_group
  id text not null
  user_id text not null
  created_at timestamp with time zone not null default now()
  seen_at timestamp with time zone not null default now()
  CREATE UNIQUE INDEX client_group_pkey ON tidemark.client_group USING btree (id)
  CREATE INDEX client_group_seen_at ON tidemark.client_group USING btree (seen_at)
  PRIMARY KEY (id)

table expansion
  version integer not null
  file text not null
  applied_at timestamp with time zone not null default now()
  CREATE UNIQUE INDEX expansion_pkey ON tidemark.expansion USING btree (version)
  PRIMARY KEY (version)

table heartbeat
  at timestamp with time zone not null default clock_timestamp()
  oldest_xid xid8 not null
  id uuid not null default gen_random_uuid()
  xid xid8 not null default pg_current_xact_id()
  snapshot pg_snapshot
  system_identifier bigint
  bytes bigint
  timeline integer
  "position" pg_lsn
  CREATE UNIQUE INDEX heartbeat_id_key ON tidemark.heartbeat USING btree (id)
  CREATE UNIQUE INDEX heartbeat_pkey ON tidemark.heartbeat USING btree (at)
  CREATE INDEX heartbeat_xid ON tidemark.heartbeat USING btree (xid)
  UNIQUE (id)
  PRIMARY KEY (at)

table idempotency_key
  user_id text not null
  key text not null
  fingerprint text not null
  answer text not null
  created_at timestamp with time zone not null default now()
  CREATE INDEX idempotency_key_created_at_idx ON tidemark.idempotency_key USING btree (created_at)
  CREATE UNIQUE INDEX idempotency_key_pkey ON tidemark.idempotency_key USING btree (user_id, key)
  PRIMARY KEY (user_id, key)

table meta
  singleton boolean not null default true
  install_id uuid not null default gen_random_uuid()
  secret text not null default ((gen_random_uuid())::text || (gen_random_uuid())::text)
  previous_secret text
  signs_from timestamp with time zone
  previous_until timestamp with time zone
  horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot())
  aging xid8 not null default pg_snapshot_xmin(pg_current_snapshot())
  CREATE UNIQUE INDEX meta_pkey ON tidemark.meta USING btree (singleton)
  PRIMARY KEY (singleton)
  CHECK (singleton)

table migration
  version integer not null
  file text not null
  applied_at timestamp with time zone not null default now()
  CREATE UNIQUE INDEX migration_pkey ON tidemark.migration USING btree (version)
  PRIMARY KEY (version)

table refusal
  user_id text not null
  profile_id text not null
  client_id text not null
  mutation_id bigint not null
  name text
  code text not null
  detail text
  at text not null default to_char((clock_timestamp() AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text)
  CREATE INDEX refusal_at ON tidemark.refusal USING btree (at)
  CREATE UNIQUE INDEX refusal_pkey ON tidemark.refusal USING btree (user_id, profile_id, client_id, mutation_id)
  PRIMARY KEY (user_id, profile_id, client_id, mutation_id)
  CREATE TRIGGER tidemark_delete AFTER DELETE ON tidemark.refusal REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_3() -- enabled: A
  CREATE TRIGGER tidemark_insert AFTER INSERT ON tidemark.refusal REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_3() -- enabled: A
  CREATE TRIGGER tidemark_truncate BEFORE TRUNCATE ON tidemark.refusal FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_3() -- enabled: A
  CREATE TRIGGER tidemark_update AFTER UPDATE ON tidemark.refusal REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_3() -- enabled: A

table row_format
  table_id integer not null
  number integer not null
  schema_hash text not null
  relations json not null
  before pg_snapshot
  after pg_snapshot not null
  CREATE UNIQUE INDEX row_format_pkey ON tidemark.row_format USING btree (table_id, number)
  PRIMARY KEY (table_id, number)

table synced_table
  id integer not null generated always as identity
  relation regclass not null
  CREATE UNIQUE INDEX synced_table_pkey ON tidemark.synced_table USING btree (id)
  CREATE UNIQUE INDEX synced_table_relation_key ON tidemark.synced_table USING btree (relation)
  PRIMARY KEY (id)
  UNIQUE (relation)

table timeline
  PRIMARY KEY (system_identifier, number)
  system_identifier bigint not null
  number integer not null
  id text not null default "left"(replace((gen_random_uuid())::text, '-'::text, ''::text), 12)
  since pg_lsn
  at timestamp with time zone not null default clock_timestamp()
  CREATE UNIQUE INDEX timeline_pkey ON tidemark.timeline USING btree (system_identifier, number)

table view_catalog
  PRIMARY KEY (digest)
  digest text not null
  definition text not null
  at timestamp with time zone not null default clock_timestamp()
  CREATE UNIQUE INDEX view_catalog_pkey ON tidemark.view_catalog USING btree (digest)

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
  CREATE TRIGGER tidemark_delete AFTER DELETE ON public.event FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_insert AFTER INSERT ON public.event FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_truncate BEFORE TRUNCATE ON public.event FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_update AFTER UPDATE ON public.event FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A

table event_2026
  id integer not null
  day date not null
  CREATE UNIQUE INDEX event_2026_pkey ON public.event_2026 USING btree (id, day)
  PRIMARY KEY (id, day)
  CREATE TRIGGER tidemark_delete AFTER DELETE ON public.event_2026 FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_insert AFTER INSERT ON public.event_2026 FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A
  CREATE TRIGGER tidemark_update AFTER UPDATE ON public.event_2026 FOR EACH ROW EXECUTE FUNCTION tidemark.capture_2() -- enabled: A

table todo
  PRIMARY KEY (id)
  CREATE TRIGGER stamp BEFORE INSERT ON public.todo FOR EACH ROW EXECUTE FUNCTION public.stamp() -- enabled: O
  CREATE TRIGGER tidemark_delete AFTER DELETE ON public.todo REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_1() -- enabled: A
  CREATE TRIGGER tidemark_insert AFTER INSERT ON public.todo REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_1() -- enabled: A
  CREATE TRIGGER tidemark_truncate BEFORE TRUNCATE ON public.todo FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_1() -- enabled: A
  CREATE TRIGGER tidemark_update AFTER UPDATE ON public.todo REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION tidemark.capture_1() -- enabled: A
  id text not null
  "list ID" text not null
  title text default 'x'::text
  sort numeric(8,2)
  CREATE INDEX "todo_list ID_idx" ON public.todo USING btree ("list ID")
  CREATE UNIQUE INDEX todo_pkey ON public.todo USING btree (id)
