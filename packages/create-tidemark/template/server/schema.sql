-- Runs at each start.
create table if not exists todo (
  id text primary key,
  owner text not null,
  list text not null,
  title text not null,
  done boolean not null default false,
  created timestamptz not null
);
create index if not exists todo_owner_list on todo (owner, list);
