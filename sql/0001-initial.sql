-- A single row: the identity of this installation, and how far back the change log reaches.
create table tidemark.meta (
  singleton boolean primary key default true check (singleton),
  -- Part of every cookie's epoch. Changing it resets every client.
  install_id uuid not null default gen_random_uuid(),
  -- Signs cookies.
  secret text not null default gen_random_uuid()::text || gen_random_uuid()::text,
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
  -- The order in which changes were logged. What a trigger changes inside a statement comes before the statement's own.
  seq bigint generated always as identity,
  -- Of a synced table; 0 says that a mutation of the client group in "key" was applied.
  table_id integer not null,
  -- The top-level transaction that made the change.
  xid xid8 not null,
  -- The primary key's columns as text; null marks a TRUNCATE.
  key text[],
  -- The row before the change, as a row literal; null where there was none.
  old text,
  -- The hash of the row after the change; null where there is none.
  new_hash bigint
);
create index change_table_id_xid on tidemark.change (table_id, xid);
create index change_truncate on tidemark.change (xid) where key is null;

-- A table's changes in the given ranges of transaction IDs. Postgres estimates a function's result at a fixed number of
-- rows, whatever the statistics of the log. Here it is one, so that the changed keys are looked up one by one: the cost
-- then depends on how much has changed, not on how much there is.
create function tidemark.unseen(of_table integer, lows xid8[], highs xid8[]) returns setof tidemark.change
language plpgsql stable parallel safe rows 1 as $$
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
language plpgsql stable parallel safe rows 1000 as $$
begin
  return query select * from tidemark.unseen(of_table, lows, highs);
end
$$;

create table tidemark.client_group (
  id text primary key,
  user_id text not null,
  created_at timestamptz not null default now()
);

create table tidemark.client (
  id text primary key,
  client_group_id text not null references tidemark.client_group,
  last_mutation_id bigint not null,
  -- The transaction that applied the last mutation: says whether a snapshot has seen it.
  xid xid8 not null
);
create index client_client_group_id on tidemark.client (client_group_id);

-- Raises an error about a row of a view that has no key: a client cannot store such a row, and the pull fails rather
-- than losing it.
create function tidemark.null_key(view_name text) returns text language plpgsql stable as $$
begin
  raise exception 'a row of the view "%" has no key', view_name using errcode = 'null_value_not_allowed';
end
$$;

-- A statement that waited for a TRUNCATE finds the table empty even if its snapshot was taken before: TRUNCATE keeps no
-- row versions. Because this function is volatile, it sees what was committed while the statement waited.
create function tidemark.truncated_since(seen pg_snapshot, tables integer[]) returns boolean
language plpgsql volatile parallel restricted as $$
begin
  return exists (
    select from tidemark.change
    where key is null and table_id = any (tables) and not pg_visible_in_snapshot(xid, seen)
  );
end
$$;

-- The lowest transaction in progress at points in the past. It tells which transactions ended longer ago than a given
-- time.
create table tidemark.tick (
  at timestamptz primary key default clock_timestamp(),
  oldest_xid xid8 not null
);
