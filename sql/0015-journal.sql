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
