-- Everything that Tidemark keeps in a database: the change log and the functions that read it, the records of clients,
-- and the data that servers share. Each object comes after the objects that it needs.

-- A single row: the installation's ID and secrets, and how far back the change log reaches.
create table tidemark.meta (
  singleton boolean primary key default true check (singleton),
  -- Part of the database ID in every cookie. A new value resets every client.
  install_id uuid not null default gen_random_uuid(),
  -- Signs cookies.
  secret text not null default gen_random_uuid()::text || gen_random_uuid()::text,
  -- Secrets are rotated. A new secret signs cookies only from "signs_from" on, when all servers have read it. The
  -- previous secret remains valid until "previous_until".
  previous_secret text,
  signs_from timestamptz,
  previous_until timestamptz,
  -- The change log's rows below this transaction ID have been deleted.
  horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  -- Cookies with an older snapshot are renewed even if nothing has changed, so that they stay above the horizon.
  aging xid8 not null default pg_snapshot_xmin(pg_current_snapshot())
);
insert into tidemark.meta default values;

-- The tables whose changes are captured. A regclass survives a rename, and a dump restores it by name.
create table tidemark.synced_table (
  id integer generated always as identity primary key,
  relation regclass not null unique
);

-- The change log, written by the capture triggers.
create table tidemark.change (
  -- The ID of a synced table. 0: a mutation of the client group in "key" was applied. -1: the user in "key" was
  -- disconnected.
  table_id integer not null,
  -- The top-level transaction that made the change.
  xid xid8 not null,
  -- The primary key's columns as text; null for a TRUNCATE.
  key text[],
  -- The row before the change, as a row literal; null if there was none.
  old text,
  -- The hash of the row after the change; null if there is none.
  new_hash bigint,
  -- For a partitioned table, the partition that holds the changed row. The row literal has the partition's columns, in
  -- the partition's order.
  partition oid
) with (
  -- Old changes are deleted continually. Frequent vacuums soon make their space available to new ones.
  autovacuum_vacuum_scale_factor = 0.05
);
create index change_table_id_xid on tidemark.change (table_id, xid);
create index change_truncate on tidemark.change (xid) where key is null;
-- A table without a primary key needs another replica identity. Otherwise Postgres refuses to update or delete its rows
-- once a publication includes it, as FOR ALL TABLES does. FULL costs nothing unless wal_level is logical; then the WAL
-- also has each deleted row. A unique index would make every captured write more expensive.
alter table tidemark.change replica identity full;

-- Returns a table's changes in the given ranges of transaction IDs. Postgres estimates a function's result at a fixed
-- number of rows, whatever the log's statistics say. With an estimate of one row, it looks up the changed keys one by
-- one, so the cost depends on the number of changes, not on the size of the table.
--
-- The best plan does not depend on the number of ranges. But Postgres assumes that an array of unknown length has ten
-- elements, so it would replan every call with a shorter array, which takes longer than reading. While the log is
-- small, Postgres would choose to read all of it, and keep that plan as the log grows. JIT compilation of such a
-- statement takes a hundred times as long as running it.
create function tidemark.unseen(of_table integer, lows xid8[], highs xid8[]) returns setof tidemark.change
language plpgsql stable parallel safe rows 1
set plan_cache_mode = force_generic_plan set enable_seqscan = off set jit = off as $$
begin
  return query
    select c.* from unnest(lows, highs) u (low, high)
    cross join lateral (
      select * from tidemark.change where table_id = of_table and xid between low and high order by xid
    ) c;
end
$$;

-- tidemark.unseen for many changes: with the higher row estimate, Postgres does not join such results by nested loops.
create function tidemark.many_unseen(of_table integer, lows xid8[], highs xid8[]) returns setof tidemark.change
language plpgsql stable parallel safe rows 1000
set jit = off as $$
begin
  return query select * from tidemark.unseen(of_table, lows, highs);
end
$$;

-- Counts the keys with changes in the ranges of transaction IDs, and these changes. Reads at most max_rows of the
-- changes.
create function tidemark.changed_keys(
  tables integer[], lows xid8[], highs xid8[], max_rows integer, out keys integer, out changes integer
)
language sql stable parallel restricted
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
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
$$;

-- Returns a row as text that does not depend on the session's settings.
create function tidemark.fixed_text(of_row record) returns text
language plpgsql stable strict parallel safe
set datestyle = 'ISO, YMD' set intervalstyle = 'iso_8601' set extra_float_digits = 1
set timezone = 'UTC' set bytea_output = 'hex' set lc_monetary = 'C' as $$
begin
  return of_row::text;
end
$$;

-- True if the text of a captured table's rows does not depend on the session's settings. Declared immutable so that the
-- planner evaluates it; Postgres replans the capture function's statements after each ALTER TABLE. A query on
-- pg_attribute could miss a column that is newer than the transaction's snapshot; the XML schema has the same columns
-- as the rows. Replacing substrings delays a session's first write less than a regular expression does. The function
-- does not wait for DDL: a writer to a partition need not have locked the table itself, and the DDL may wait for it.
create function tidemark.has_fixed_text(of_table integer) returns boolean
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp set lock_timeout = '1ms' as $$
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
$$;

-- Returns the table with a change-log ID. The function is declared immutable so that the planner evaluates it: Postgres
-- replans a statement that names the table after the table is altered.
create function tidemark.relation_of(of_table integer) returns regclass
language sql immutable strict parallel safe as $$
  select relation from tidemark.synced_table where id = of_table
$$;

-- Splits a row literal, as Postgres writes it, into its fields.
create function tidemark.fields(image text) returns text[]
language sql immutable strict parallel safe as $$
select array_agg(
    case when field[1] like '"%' then
      replace(replace(substr(field[1], 2, length(field[1]) - 2), '""', '"'), repeat(chr(92), 2), chr(92))
    else nullif(field[1], '') end
    order by ordinal
  )
from regexp_matches(substr(image, 2, length(image) - 2) || ',', '("(?:[^"]|"")*"|[^,"]*),', 'g')
  with ordinality fields (field, ordinal)
$$;

-- Returns the row format in which a log row was written, given the first and the last that its transaction may have
-- used. Returns null if the row has no image and the formats differ; no two of these formats have an image in common.
--
-- The arrays have an element for each row format, from 0 on: the first format with the same columns, and the number of
-- columns. "steps" has one for each format after the first: 1 if columns were added, -1 if columns were dropped, 0 if
-- the columns are the same, null if other changes are possible. While columns are only added, or only dropped, no
-- unrecorded format in between has as many columns as a recorded one.
create function tidemark.row_format_of(
  earliest integer, latest integer, image text, first_equal integer[], widths integer[], steps integer[]
) returns integer
language plpgsql immutable parallel safe as $$
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
$$;

-- Raises an error in place of a row's image as of a snapshot, if several images are possible.
create function tidemark.unclear_image() returns text
language plpgsql volatile parallel safe as $$
begin
  raise exception 'rows were logged while a type was altered' using errcode = 'TM001';
end
$$;

-- The row formats that synced tables have had, one for each schema hash. They show how to read log rows that were
-- written before a table was altered. Rows only save time: if one is missing, the client is reset.
create table tidemark.row_format (
  table_id integer not null,
  -- In chronological order.
  number integer not null,
  -- As in cookies.
  schema_hash text not null,
  -- The table and its partitions, with their columns.
  relations json not null,
  -- Transactions visible in this snapshot wrote in an earlier row format. Null if no such snapshot is known.
  before pg_snapshot,
  -- Transactions not visible in this snapshot wrote in this row format or a later one, because DDL that changes the
  -- format waits for transactions that write to the table.
  after pg_snapshot not null,
  primary key (table_id, number)
);

-- Lets one server at a time record row formats, and blocks DDL on the tables' columns until the transaction ends.
create function tidemark.lock_row_formats(tables oid[]) returns void
language plpgsql volatile parallel unsafe as $$
declare
  relation oid;
begin
  lock table tidemark.row_format in share row exclusive mode;
  foreach relation in array tables loop
    execute format('lock table %s in access share mode', relation::regclass);
  end loop;
end
$$;

-- A digest of the types of a table's columns and of everything that they consist of, such as the labels of an enum. The
-- xmin of a catalog row reveals every change to it. Because of the arrays, and the subqueries that cannot become joins,
-- Postgres reads no catalog as a whole.
create function tidemark.type_fingerprint(relation oid) returns bigint
language plpgsql volatile strict parallel restricted as $$
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
$$;

-- A digest of what decides which rows a statement finds in a table: its name as this session writes it, its row-level
-- security, its file, its partitions and their files, its inheritance children, its columns and their types. It reveals
-- changes made to the table while a statement waited for it, such as a TRUNCATE. The function is volatile, so in READ
-- COMMITTED it sees everything that has been committed. At higher isolation levels it sees all of that but the children
-- and columns, because the functions called here ignore the transaction's snapshot. Built-in types do not count,
-- because they cannot be altered. DDL on a type does not wait for transactions that read or write the table.
create function tidemark.relation_fingerprint(relation oid) returns bigint
language plpgsql volatile strict parallel restricted as $$
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
$$;

-- True if the snapshot of the calling statement shows the files and partitions that the statement reads in a table, and
-- that its changes are captured. It does not if the snapshot is from before a TRUNCATE or DDL that the statement has
-- waited for: the table's files then have rows that the snapshot must not show, or lack some. A fingerprint does not
-- reveal this if it comes from another host, which has shown the same earlier.
create function tidemark.shows_table(relation oid) returns boolean
language plpgsql stable strict parallel restricted as $$
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
$$;

-- Views convert text to dates and times through this function. The meaning of "now" and similar words changes with
-- time, so a snapshot could not determine which rows a client has.
create function tidemark.fixed_date_time(value text) returns text language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if value ~* '(^|[^a-z])(now|today|tomorrow|yesterday)([^a-z]|$)' then
    raise exception 'a view cannot read text such as "now" as a date or time: its meaning changes' using errcode = 'invalid_datetime_format';
  end if;
  return value;
end
$$;

-- Raises an error about a row of a view that has no key. A client cannot store such a row, so the pull fails instead of
-- losing it.
create function tidemark.null_key(view_name text) returns text language plpgsql stable as $$
begin
  raise exception 'a row of the view "%" has no key', view_name using errcode = 'null_value_not_allowed';
end
$$;

create table tidemark.client_group (
  id text primary key,
  user_id text not null,
  created_at timestamptz not null default now(),
  -- The last time of activity, to within a day or two. Groups that have been inactive for very long are deleted.
  seen_at timestamptz not null default now()
);
create index client_group_seen_at on tidemark.client_group (seen_at);

create table tidemark.client (
  id text primary key,
  client_group_id text not null references tidemark.client_group,
  last_mutation_id bigint not null,
  -- The transaction that applied the last mutation. Shows whether a snapshot includes that mutation.
  xid xid8 not null
);
create index client_client_group_id on tidemark.client (client_group_id);

-- Records in the change log which client group each applied mutation belongs to, because clients need confirmation even
-- of mutations that change no table.
create function tidemark.log_mutation() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tidemark.change (table_id, xid, key) values (0, new.xid, array[new.client_group_id]);
  return null;
end
$$;
-- Otherwise, any role with access to the schema could call it from a trigger of its own.
revoke all on function tidemark.log_mutation() from public;

create trigger tidemark_mutation after insert or update of last_mutation_id on tidemark.client
  for each row execute function tidemark.log_mutation();
alter table tidemark.client enable always trigger tidemark_mutation;

-- Statements that accompany mutators are in functions, because functions keep their plans. Planning such a statement
-- takes longer than running it, and a text with BEGIN or COMMIT cannot be prepared.

-- Claims a mutation for the calling transaction. The client's row then records it as applied, and stays locked until
-- the end. Returns false if the client is not waiting for this mutation, or its client group is not the user's.
create function tidemark.claim_mutation(of_client text, of_group text, of_user text, mutation bigint) returns boolean
language plpgsql as $$
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
$$;

-- The answers to calls with an Idempotency-Key, each written in the call's own transaction.
create table tidemark.idempotency_key (
  user_id text not null,
  key text not null,
  -- Identifies what was called, and with which args.
  fingerprint text not null,
  answer text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index on tidemark.idempotency_key (created_at);

-- Locks an idempotency key until the calling transaction ends, then reads the answer stored under the key, unless it is
-- older than the retention. "locked" is false if another transaction has locked the key: that call is still running.
-- The function is volatile, so below REPEATABLE READ it sees everything committed before it got the lock.
create function tidemark.claim_key(
  of_user text, of_key text, retention_seconds float8, out locked boolean, out fingerprint text, out answer text
)
language plpgsql as $$
begin
  locked := pg_try_advisory_xact_lock(hashtextextended(of_key, hashtextextended(of_user, 7)));
  select stored.fingerprint, stored.answer into claim_key.fingerprint, claim_key.answer
  from tidemark.idempotency_key stored
  where user_id = of_user and key = of_key and created_at > now() - make_interval(secs => retention_seconds);
end
$$;

-- Stores an answer under a key that the calling transaction has locked, and replaces an answer older than the
-- retention. If another transaction has stored an answer that this one cannot see, this is a serialization failure.
create function tidemark.store_answer(of_user text, of_key text, new_fingerprint text, new_answer text) returns void
language plpgsql as $$
begin
  insert into tidemark.idempotency_key (user_id, key, fingerprint, answer)
  values (of_user, of_key, new_fingerprint, new_answer)
  on conflict (user_id, key) do update
  set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at;
end
$$;

-- Who called which mutator, when, and with what outcome. Servers keep entries for a time, if configured to.
create table tidemark.audit_log (
  at timestamptz not null default clock_timestamp(),
  user_id text not null,
  request_id text not null,
  -- Null if no mutator has the name that was called.
  mutator text,
  -- 'applied', or an error code.
  outcome text not null,
  -- Null for a call over REST.
  client_group_id text,
  client_id text,
  mutation_id bigint
);
create index audit_log_at on tidemark.audit_log (at);
alter table tidemark.audit_log replica identity full;

-- Skipped mutations, and why. Clients of the same user and profile read them as rows of a view. Refusals are kept for a
-- day, and only the newest hundred of a profile.
create table tidemark.refusal (
  user_id text not null,
  profile_id text not null,
  client_id text not null,
  mutation_id bigint not null,
  -- Null if no mutator has the name that was called.
  name text,
  -- An error code.
  code text not null,
  -- The mutator's message to the user; null if it did not refuse on purpose.
  detail text,
  -- In ISO 8601, in UTC. The JSON of a timestamptz would depend on the session's settings.
  at text collate "C" not null default to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  primary key (user_id, profile_id, client_id, mutation_id)
);
create index refusal_at on tidemark.refusal (at);

-- Records under the table_id -1 in the change log that a user was disconnected. Every server then ends the streams and
-- waiting reads of this user. A transaction that also deletes the user's sessions does both with the same commit.
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

-- The views that clients have, by the digests in their cookies. Once an application serves other views, this table
-- shows what a client must remove. Rows only save time: if one is missing, the client is reset.
create table tidemark.view_catalog (
  digest text primary key,
  definition text not null,
  -- When a server last began to serve the view, to within a day.
  at timestamptz not null default clock_timestamp()
);

-- Stores the views that a server serves, and keeps the newest thousand of all. Does nothing on a standby, or if the
-- role lacks privileges. Servers that start at the same time with the same views wait for each other.
create function tidemark.store_views(digests text[], definitions text[]) returns void
language plpgsql volatile parallel unsafe as $$
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
$$;

-- The lowest transaction in progress at points in the past, which shows which transactions ended longer ago than a
-- given time. Heartbeats also identify the database's history: a copy of the database that continues independently has
-- other heartbeats from then on.
create table tidemark.heartbeat (
  at timestamptz primary key default clock_timestamp(),
  oldest_xid xid8 not null,
  id uuid not null unique default gen_random_uuid(),
  xid xid8 not null default pg_current_xact_id(),
  -- What the primary had seen at that time. Any snapshot that shows this row includes all of that, because the row was
  -- committed later.
  snapshot pg_snapshot,
  -- The cluster of the snapshot. A dump contains the snapshots of another cluster.
  system_identifier bigint,
  -- The size, about as on disk, of the log rows that became final between the previous heartbeat and this one. Null if
  -- it was not measured.
  bytes bigint,
  -- The timeline on which the heartbeat was written, and a WAL position before the heartbeat.
  timeline integer,
  position pg_lsn
);
create index heartbeat_xid on tidemark.heartbeat (xid);

-- The timelines of the database's history. Each begins where a standby was promoted or a backup restored. They show
-- whether the database includes what a cookie's snapshot has seen.
create table tidemark.timeline (
  system_identifier bigint not null,
  -- Postgres's number. Two standbys that are both promoted give their timelines the same number.
  number integer not null,
  id text not null default left(replace(gen_random_uuid()::text, '-', ''), 12),
  -- A position on the previous timeline. This timeline includes everything before it. Null if unknown.
  since pg_lsn,
  at timestamptz not null default clock_timestamp(),
  primary key (system_identifier, number)
);

-- Returns the number of a primary's timeline. The control file has it only after the next checkpoint.
create function tidemark.timeline_number() returns integer
language sql volatile parallel restricted as $$
select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer
$$;

-- Records the timeline that a primary is on, unless it is recorded already.
--
-- Postgres reports the position of the last replay. On a promoted standby, this is the end of the previous timeline, so
-- the new one branches off there. On a primary that has recovered from a crash, it is the position of the crash. Only
-- the standby has requested WAL from a primary since its shared memory was set up, because a crash sets it up again. If
-- another timeline may lie between the two, or the branch point is unknown, it is taken to be the position of the
-- newest heartbeat on the previous timeline. Rows that a dump brought from another cluster are deleted.
create function tidemark.record_timeline() returns void
language sql volatile parallel unsafe as $$
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
$$;

-- Returns the timelines, and a position before which lies everything that the calling statement shows.
--
-- On a primary, a commit is written before it is visible. On a standby, replayed changes become visible shortly before
-- they count as replayed. A running WAL receiver has received all of them. Without one, the WAL comes from an archive,
-- and the position has a margin that the end of a record begun before can hardly exceed. The check for the receiver
-- comes first: a receiver that starts later starts behind everything visible. The timelines are read from their index,
-- in its order, because tidemark.poll forbids scans of whole tables.
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
    from (select * from tidemark.timeline order by system_identifier, number) timeline
  );
end
$$;

-- Postgres does not report which transactions a standby's snapshot regards as in progress. But such a snapshot has seen
-- everything below its xmin, and everything that a snapshot of the primary had seen, if that snapshot's row is visible.
-- Beyond that, as far as these tables and the client groups are concerned, it has seen every transaction that left a
-- visible row in the log. These transactions are not listed if there are too many rows to read.
create function tidemark.seen_by_standby(tables integer[]) returns json
language plpgsql stable parallel safe as $$
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
$$;

-- When the database server started, and when it last recovered from a crash. Recovery resets the server's statistics,
-- even if it does not restart the server.
create function tidemark.server_start() returns text
language sql stable parallel restricted as $$
select concat(extract(epoch from pg_postmaster_start_time()), '/', extract(epoch from pg_stat_get_bgwriter_stat_reset_time()))
$$;

-- Returns what a server needs to answer pulls and to poke, at the snapshot of the calling statement: the state of the
-- database, the log's changes in the ranges of transaction IDs, and the records of some client groups.
--
-- Each range is read from the index, in the index's order, so that no estimate can lead Postgres to read the whole
-- table. The log is read only between the IDs of transactions in progress, because these may have written any number of
-- rows, none of which is visible. The arrays are in subqueries so that estimates do not depend on the values. Otherwise
-- Postgres would replan a prepared statement each time, which takes longer than running it.
--
-- If "listed" is true, the result lists changes by transaction, and also mutations. "durableXid" is the ID of the
-- newest visible transaction that left a row in the log, of any table, or a heartbeat. Its commit is on disk, so no ID
-- up to its own will be assigned again. "history" is evaluated after "recovery": if that says that the database is a
-- primary, the history is that of a primary, even if the standby was promoted a moment before.
--
-- In FROM, Postgres inlines this query into the calling one, which is best for a prepared statement. Called by
-- tidemark.poll, it must not scan a whole table. A forbidden scan without an alternative has a cost of ten billion,
-- which triggers JIT compilation. So the condition on "meta" is one that its index serves.
create function tidemark.poll_inline(
  lows xid8[], highs xid8[], tables integer[], listed boolean, named_heartbeat uuid, group_ids text[]
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
$$;

-- tidemark.poll_inline with a cached plan of its own: best for a statement that is planned each time, because this
-- query takes longer to plan than to run. The settings make Postgres read the log from its index, in the index's order,
-- and only as far as needed. Where it expects few rows, it would otherwise read and sort all of them.
create function tidemark.poll(
  lows xid8[], highs xid8[], tables integer[], listed boolean, named_heartbeat uuid, group_ids text[]
) returns json
language plpgsql stable parallel restricted
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select l from tidemark.poll_inline(lows, highs, tables, listed, named_heartbeat, group_ids) l);
end
$$;
