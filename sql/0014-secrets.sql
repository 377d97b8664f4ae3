-- Secrets are rotated. A new one signs cookies only after a while, when all servers know it; the previous one remains
-- valid for a time.
alter table tidemark.meta
  add column previous_secret text,
  add column signs_from timestamptz,
  add column previous_until timestamptz;
