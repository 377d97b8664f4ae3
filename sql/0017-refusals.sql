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
