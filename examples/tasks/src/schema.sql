-- The example's own tables. Tidemark adds no column to them.
create table if not exists list (
  id text primary key,
  owner_id text not null,
  name text not null,
  created_at timestamptz not null default now()
);
create index if not exists list_owner_id on list (owner_id);

-- The other users who see a list and can edit its todos.
create table if not exists share (
  list_id text not null references list on delete cascade,
  user_id text not null,
  primary key (list_id, user_id)
);
create index if not exists share_user_id on share (user_id);

create table if not exists todo (
  id text primary key,
  list_id text not null references list on delete cascade,
  title text not null,
  done boolean not null default false,
  -- The todo's position in its list. A fraction fits between any two.
  sort double precision not null,
  created_at timestamptz not null default now()
);
create index if not exists todo_list_id on todo (list_id);
