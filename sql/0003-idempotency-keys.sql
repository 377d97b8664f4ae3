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
