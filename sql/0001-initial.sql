-- Everything that Tidemark keeps in a database: the change log and what reads it, the records of clients, and what servers
-- tell one another. Objects are in the order in which they need each other.

-- A single row: the identity of this installation, its secrets, and how far back the change log reaches.
create table tidemark.meta (
  singleton boolean primary key default true check (singleton),
  -- Part of every cookie's epoch. Changing it resets every client.
  install_id uuid not null default gen_random_uuid(),
  -- Signs cookies.
  secret text not null default gen_random_uuid()::text || gen_random_uuid()::text,
  -- Secrets are rotated. A new one signs cookies only after a while, when all servers know it; the previous one remains
  -- valid for a time.
  previous_secret text,
  signs_from timestamptz,
  previous_until timestamptz,
  -- Rows of the change log below this transaction ID have been deleted.
  horizon xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  -- Older cookies are renewed even if nothing has changed, so that they do not fall behind the horizon.
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
  -- Of a synced table; 0 says that a mutation of the client group in "key" was applied, and -1 that the user in "key" was
  -- disconnected.
  table_id integer not null,
  -- The top-level transaction that made the change.
  xid xid8 not null,
  -- The primary key's columns as text; null marks a TRUNCATE.
  key text[],
  -- The row before the change, as a row literal; null where there was none.
  old text,
  -- The hash of the row after the change; null where there is none.
  new_hash bigint,
  -- For a partitioned table, the partition that holds the changed row. The row literal has the partition's columns, in
  -- the partition's order.
  partition oid
) with (
  -- As old changes are deleted all the time, their space should be free for new ones soon.
  autovacuum_vacuum_scale_factor = 0.05
);
create index change_table_id_xid on tidemark.change (table_id, xid);
create index change_truncate on tidemark.change (xid) where key is null;
-- Tables without a primary key need another replica identity: as soon as a publication includes them, as one FOR ALL
-- TABLES does, Postgres refuses to update or delete their rows. The whole row costs nothing unless wal_level is logical;
-- then the WAL also has each deleted row. An index on a unique column would cost every write that is captured.
alter table tidemark.change replica identity full;

-- A table's changes in the given ranges of transaction IDs. Postgres estimates a function's result at a fixed number of
-- rows, whatever the statistics of the log. Here it is one, so that the changed keys are looked up one by one: the cost
-- then depends on how much has changed, not on how much there is.
--
-- How the log is read does not depend on how many ranges there are. But Postgres expects an array whose length it does not
-- know to have ten elements, so it would plan for each shorter one anew, which takes longer than reading. And while the log
-- is small, Postgres would plan to read all of it, and keep that plan as the log grows. Compiling such a statement (JIT)
-- takes a hundred times as long as running it.
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

-- The same for many changes: such results are then not joined with one another row by row.
create function tidemark.many_unseen(of_table integer, lows xid8[], highs xid8[]) returns setof tidemark.change
language plpgsql stable parallel safe rows 1000
set jit = off as $$
begin
  return query select * from tidemark.unseen(of_table, lows, highs);
end
$$;

-- Counts the keys of which the log has changes that the ranges of transaction IDs include, and these changes, in so many
-- of them at most.
create function tidemark.changed_keys(
  tables integer[], lows xid8[], highs xid8[], most integer, out keys integer, out changes integer
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
      order by xid limit most
    ) logged
    limit most
  ) l
  group by l.table_id, l.key
) c
$$;

-- A row as text, the same whatever the session's settings.
create function tidemark.fixed_text(of_row record) returns text
language plpgsql stable strict parallel safe
set datestyle = 'ISO, YMD' set intervalstyle = 'iso_8601' set extra_float_digits = 1
set timezone = 'UTC' set bytea_output = 'hex' set lc_monetary = 'C' as $$
begin
  return of_row::text;
end
$$;

-- True if the rows of a captured table have the same text whatever the session's settings. It is declared immutable so that
-- the planner evaluates it; Postgres plans the capture function's statements again after each ALTER TABLE. A query on
-- pg_attribute could miss a column that is newer than the transaction's snapshot. Postgres makes the XML schema of the same
-- columns as the rows. Replacing substrings delays a session's first write less than a regular expression does.
-- A writer to a partition may not have locked the table itself: it does not wait for DDL, which may wait for the writer.
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
  -- The other columns may be of enum types. XML escapes some characters of names; names that may have any are left out.
  return not exists (
    select from regexp_matches(columns, 'type="([^"]*)" nillable="true"', 'g') other (type)
    cross join regexp_match(type[1], '^UDT\.[^.]*\.([a-zA-Z](?:[a-zA-Z0-9]|_(?!x))*)\.([a-zA-Z](?:[a-zA-Z0-9]|_(?!x))*)$') name
    where not exists (
      select from pg_type where typtype = 'e' and oid = to_regtype('"' || name[1] || '"."' || name[2] || '"')
    )
  );
end
$$;

-- The table with the change-log ID. It is declared immutable so that the planner evaluates it: a plan that names the table is
-- made again after the table is altered.
create function tidemark.relation_of(of_table integer) returns regclass
language sql immutable strict parallel safe as $$
  select relation from tidemark.synced_table where id = of_table
$$;

-- The fields of a row literal as Postgres writes it.
create function tidemark.fields(image text) returns text[]
language sql immutable strict parallel safe as $$
select array_agg(
    case when field[1] like '"%' then
      replace(replace(substr(field[1], 2, length(field[1]) - 2), '""', '"'), repeat(chr(92), 2), chr(92))
    else nullif(field[1], '') end
    order by place
  )
from regexp_matches(substr(image, 2, length(image) - 2) || ',', '("(?:[^"]|"")*"|[^,"]*),', 'g')
  with ordinality fields (field, place)
$$;

-- In which of several layouts a log row was written, given the first and the last that its transaction may have written in.
-- Null if it has no image to tell, nor need it: in the layouts that come into question, no two images are the same.
--
-- The arrays have, for each layout from 0 on: the first with the same columns; and how many columns there are. "steps" has,
-- for each layout after the first, what has become of the columns: 1 if some were added, -1 if some were dropped, 0 if they
-- are the same; null if this is not all that can have happened. While columns are only added, or only dropped, no layout in
-- between that nobody has recorded has as many columns as one that was.
create function tidemark.written_in(
  earliest integer, latest integer, image text, same integer[], widths integer[], steps integer[]
) returns integer
language plpgsql immutable parallel safe as $$
declare
  made integer[] := steps[earliest + 1:latest];
  layout integer;
begin
  if same[earliest + 1] = same[latest + 1] then
    return same[earliest + 1];
  end if;
  if array_position(made, null) is not null or (1 = any (made) and -1 = any (made)) then
    raise exception 'a row was logged while its table was altered' using errcode = 'TM001';
  end if;
  if image is null then
    return null;
  end if;
  select min(same[place + 1]) into layout
  from generate_series(earliest, latest) place where widths[place + 1] = cardinality(tidemark.fields(image));
  if layout is null then
    raise exception 'a row was logged while its table was altered' using errcode = 'TM001';
  end if;
  return layout;
end
$$;

-- Called in place of a row's image as of a snapshot, if several come into question.
create function tidemark.unclear_image() returns text
language plpgsql volatile parallel safe as $$
begin
  raise exception 'rows were logged while a type was altered' using errcode = 'TM001';
end
$$;

-- The layouts that synced tables have had, one for each shape: they tell how the rows of the log are to be read that were
-- logged before a table was altered. Nothing depends on a row but speed: without it, the client is reset.
create table tidemark.layout (
  table_id integer not null,
  -- In the order of time.
  number integer not null,
  -- As cookies have it.
  shape text not null,
  -- The table, or each of its partitions, with its columns.
  members json not null,
  -- Transactions that this snapshot shows wrote in an earlier layout. Null if no such snapshot is known.
  before pg_snapshot,
  -- Transactions that this snapshot does not show wrote in this layout, or a later one: DDL that changes a layout waits for
  -- those who write to the table.
  after pg_snapshot not null,
  primary key (table_id, number)
);

-- Lets one server at a time record layouts, and no DDL change the columns of the tables in the meantime.
create function tidemark.hold_layouts(tables oid[]) returns void
language plpgsql volatile parallel unsafe as $$
declare
  held oid;
begin
  lock table tidemark.layout in share row exclusive mode;
  foreach held in array tables loop
    execute format('lock table %s in access share mode', held::regclass);
  end loop;
end
$$;

-- A digest of the types of a table's columns and all that they consist of, such as the labels of an enum. The xmin of a
-- catalog row reveals every change to it. With arrays, and with subqueries that cannot become joins, no catalog is read
-- whole.
create function tidemark.type_outline(relation oid) returns bigint
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
-- security, its file, its partitions and their files, its inheritance children, its columns and their types. It shows what
-- was done to the table while a statement waited for it, such as a TRUNCATE. Because the function is volatile, it sees
-- everything that has been committed. Above read committed, it sees all of that but the children and columns, since the
-- functions called here look past the transaction's snapshot. Nobody can alter types that are built in, so they do not
-- count. DDL on a type does not wait for those who read or write the table.
create function tidemark.outline(relation oid) returns bigint
language plpgsql volatile strict parallel restricted as $$
begin
  return hashtextextended(concat_ws(' ', relation::regclass, row_security_active(relation), pg_relation_filenode(relation),
    (select string_agg(concat_ws(':', relid::oid, pg_relation_filenode(relid)), ',' order by relid) from pg_partition_tree(relation)),
    array(select inhrelid from pg_inherits where inhparent = relation order by inhrelid),
    array(select xmin from pg_attribute where attrelid = relation and attnum > 0 order by attnum),
    case when exists (select from pg_attribute where attrelid = relation and attnum > 0 and atttypid >= 16384) then
      tidemark.type_outline(relation)
    end
  ), 0);
end
$$;

-- Views convert text to dates and times through this function. "now" and similar words mean a different moment each
-- time, so no snapshot could tell what a client holds.
create function tidemark.fixed_moment(value text) returns text language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if value ~* '(^|[^a-z])(now|today|tomorrow|yesterday)([^a-z]|$)' then
    raise exception 'a view cannot read text such as "now" as a date or time: its meaning changes' using errcode = 'invalid_datetime_format';
  end if;
  return value;
end
$$;

-- Raises an error about a row of a view that has no key: a client cannot store such a row, and the pull fails rather
-- than losing it.
create function tidemark.null_key(view_name text) returns text language plpgsql stable as $$
begin
  raise exception 'a row of the view "%" has no key', view_name using errcode = 'null_value_not_allowed';
end
$$;

create table tidemark.client_group (
  id text primary key,
  user_id text not null,
  created_at timestamptz not null default now(),
  -- When it was last heard of, to within a day or two: groups that have been away for very long are forgotten.
  seen_at timestamptz not null default now()
);
create index client_group_seen_at on tidemark.client_group (seen_at);

create table tidemark.client (
  id text primary key,
  client_group_id text not null references tidemark.client_group,
  last_mutation_id bigint not null,
  -- The transaction that applied the last mutation: says whether a snapshot has seen it.
  xid xid8 not null
);
create index client_client_group_id on tidemark.client (client_group_id);

-- The change log also records to which client group each applied mutation belongs: a mutation that changes no table
-- must be confirmed too.
create function tidemark.log_mutation() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tidemark.change (table_id, xid, key) values (0, new.xid, array[new.client_group_id]);
  return null;
end
$$;
-- Otherwise, anyone who can see the schema could call it from a trigger of their own.
revoke all on function tidemark.log_mutation() from public;

create trigger tidemark_mutation after insert or update of last_mutation_id on tidemark.client
  for each row execute function tidemark.log_mutation();
alter table tidemark.client enable always trigger tidemark_mutation;

-- What writers do beside their mutators is in functions, since these keep their plans: planning such a statement takes
-- longer than running it, and in a text with BEGIN or COMMIT it cannot be prepared.

-- Claims a mutation for the calling transaction: from then on, its client's row says that it is applied, and stays locked.
-- Returns false if the client is not waiting for this mutation, or its client group does not belong to the user.
create function tidemark.claim_mutation(of_client text, of_group text, of_user text, mutation bigint) returns boolean
language plpgsql as $$
begin
  if mutation = 1 then
    -- If a concurrent push has inserted the row, this is a serialization failure, never a unique violation. A row that is
    -- there already is not tried: each try would wait for whoever updates it, and then fail.
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

-- The answer to each call that came with an Idempotency-Key, written in the call's own transaction.
create table tidemark.idempotency_key (
  user_id text not null,
  key text not null,
  -- Of what was called, and with which args.
  fingerprint text not null,
  answer text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index on tidemark.idempotency_key (created_at);

-- Locks an idempotency key until the end of the calling transaction, and then reads the answer that is kept under it,
-- unless it is older than the retention. "locked" is false if another transaction has locked the key: that call is still
-- running. Because the function is volatile, a transaction that is not REPEATABLE READ sees what was committed before it
-- got the lock.
create function tidemark.claim_key(
  of_user text, of_key text, retention_seconds float8, out locked boolean, out fingerprint text, out answer text
)
language plpgsql as $$
begin
  locked := pg_try_advisory_xact_lock(hashtextextended(of_key, hashtextextended(of_user, 7)));
  select kept.fingerprint, kept.answer into claim_key.fingerprint, claim_key.answer
  from tidemark.idempotency_key kept
  where user_id = of_user and key = of_key and created_at > now() - make_interval(secs => retention_seconds);
end
$$;

-- Keeps an answer under a key that the calling transaction has locked, replacing any that is older than the retention.
-- If another transaction has kept an answer that this one cannot see, this is a serialization failure.
create function tidemark.keep_answer(of_user text, of_key text, its_fingerprint text, its_answer text) returns void
language plpgsql as $$
begin
  insert into tidemark.idempotency_key (user_id, key, fingerprint, answer)
  values (of_user, of_key, its_fingerprint, its_answer)
  on conflict (user_id, key) do update
  set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at;
end
$$;

-- Who called which mutator, when, and what became of it: kept for a time, if the servers are told so.
create table tidemark.journal (
  at timestamptz not null default clock_timestamp(),
  user_id text not null,
  request_id text not null,
  -- Null if there is no mutator of the name that was called.
  mutator text,
  -- 'applied', or why not: a code of the errors.
  outcome text not null,
  -- Null for a call over REST.
  client_group_id text,
  client_id text,
  mutation_id bigint
);
create index journal_at on tidemark.journal (at);
alter table tidemark.journal replica identity full;

-- Mutations that were skipped, and why: what the clients of the same user and profile are told, as rows of a view. Kept
-- for a day, and the newest hundred of a profile.
create table tidemark.refusal (
  user_id text not null,
  profile_id text not null,
  client_id text not null,
  mutation_id bigint not null,
  -- Null if there is no mutator of the name that was called.
  name text,
  -- A code of the errors.
  code text not null,
  -- What the mutator has to say to the user; null if it did not refuse on purpose.
  detail text,
  -- As ISO 8601 has it, in UTC: a timestamptz would be other JSON in other sessions.
  at text collate "C" not null default to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  primary key (user_id, profile_id, client_id, mutation_id)
);
create index refusal_at on tidemark.refusal (at);

-- The table_id -1 in the change log says that the user in "key" was disconnected: every server ends the streams and waiting
-- reads of this user. In the transaction that deletes the user's sessions, it takes effect with the same commit.
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

-- The views that clients hold, by the digest that their cookies have: once an application serves others, they tell what a
-- client has that is to be taken away. Nothing depends on a row but speed: without it, the client is reset.
create table tidemark.view_text (
  digest text primary key,
  definition text not null,
  -- When a server began to serve it, to the day.
  at timestamptz not null default clock_timestamp()
);

-- Keeps views that a server serves, and the newest thousand in all. On a standby it does nothing, nor for a role that may
-- not. Servers that start at the same time, with the same views, wait for each other.
create function tidemark.keep_views(digests text[], definitions text[]) returns void
language plpgsql volatile parallel unsafe as $$
begin
  if current_setting('transaction_read_only')::boolean
    or not has_table_privilege('tidemark.view_text', 'insert') or not has_table_privilege('tidemark.view_text', 'delete') then
    return;
  end if;
  if not exists (
    select from unnest(digests) asked (digest)
    left join tidemark.view_text known on known.digest = asked.digest and at > clock_timestamp() - interval '1 day'
    where known.digest is null
  ) then
    return;
  end if;
  lock table tidemark.view_text in share row exclusive mode;
  delete from tidemark.view_text where digest = any (digests) and at < clock_timestamp() - interval '1 day';
  insert into tidemark.view_text (digest, definition)
  select * from unnest(digests, definitions) kept (digest, definition)
  on conflict do nothing;
  if found then
    delete from tidemark.view_text
    where digest in (select digest from tidemark.view_text order by at desc, digest offset 1000);
  end if;
end
$$;

-- The lowest transaction in progress at points in the past. It tells which transactions ended longer ago than a given
-- time. A tick is also a witness of the database's history: a copy of the database that continues on its own has other
-- ticks from then on.
create table tidemark.tick (
  at timestamptz primary key default clock_timestamp(),
  oldest_xid xid8 not null,
  id uuid not null unique default gen_random_uuid(),
  xid xid8 not null default pg_current_xact_id(),
  -- What the primary had seen at that time. Whoever sees this row has seen all of that too: the row was committed after
  -- it.
  snapshot pg_snapshot,
  -- A dump contains the snapshots of another cluster.
  system_identifier bigint,
  -- How large the log rows are that became final between the previous tick and this one, about as on disk. Null if that
  -- was not measured.
  bytes bigint,
  -- Which timeline the tick was written on, and a position that comes before the tick.
  timeline integer,
  position pg_lsn
);
create index tick_xid on tidemark.tick (xid);

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
-- first: one that starts later starts behind what has been shown. The timelines are read from their index, in its order,
-- since `look` forbids scans of whole tables.
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

-- When the database server was started, and when it last recovered from a crash, perhaps without being started again: it
-- then resets its statistics.
create function tidemark.started() returns text
language sql stable parallel restricted as $$
select concat(extract(epoch from pg_postmaster_start_time()), '/', extract(epoch from pg_stat_get_bgwriter_stat_reset_time()))
$$;

-- What must be known to answer pulls and to poke, at the snapshot of the calling statement: the state of the database,
-- what the log has that the ranges of transaction IDs include, and the records of some client groups.
--
-- Each range is read from the index, in the index's order, so that no estimate can lead Postgres to read the whole
-- table. The log is read only between the IDs of transactions in progress: these may have written any number of rows,
-- none of which is visible. The arrays are in subqueries so that estimates do not depend on the values: otherwise Postgres
-- would keep planning a prepared statement anew each time, which takes longer than running it.
--
-- If "listed" is true, the changes are listed by transaction, and mutations are listed too. "kept" is the ID of the newest
-- transaction that is visible and has left something, whichever tables matter: its end has been written to the disk, so no
-- ID up to its own will be assigned again. The history is asked for after "recovery": where that says that the database is
-- a primary, the history is that of a primary, even if the standby was promoted a moment before.
--
-- In FROM, Postgres inlines this query into the calling one: best for a statement that is prepared. Called by
-- "look", it may scan no whole table. A scan that is forbidden and that has no alternative has a cost of ten billion, and
-- then the plan is compiled. So the condition on "meta" is one that its index serves.
create function tidemark.looks(
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
      select logged.xid from (select id from tidemark.synced_table union all select 0 union all select -1) t
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
where m.singleton
$$;

-- The same with a plan of its own, which is cached: best for a statement that is planned each time, since this query
-- takes longer to plan than to run. The log is read from its index, in the index's order, and only as far as is needed:
-- where Postgres expects only a few rows, it would read and sort all there are.
create function tidemark.look(
  lows xid8[], highs xid8[], tables integer[], listed boolean, named_tick uuid, group_ids text[]
) returns json
language plpgsql stable parallel restricted
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  return (select l from tidemark.looks(lows, highs, tables, listed, named_tick, group_ids) l);
end
$$;
