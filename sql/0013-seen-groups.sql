-- When a client group was last heard of, to within a day or two: groups that have been away for very long are forgotten.
alter table tidemark.client_group add column seen_at timestamptz not null default now();
create index client_group_seen_at on tidemark.client_group (seen_at);
