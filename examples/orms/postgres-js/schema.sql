create table if not exists list (id text primary key, owner_id text not null, name text not null);
create table if not exists todo (
  id text primary key,
  list_id text not null references list,
  title text not null,
  done boolean not null default false,
  due_at timestamptz,
  price numeric(12, 2),
  visits bigint not null default 0
);
