create table if not exists person (
  id text primary key,
  name text not null,
  hue integer not null
);

create table if not exists project (
  id text primary key,
  team text not null,
  key text not null,
  name text not null,
  hue integer not null
);

create table if not exists member (
  project_id text not null references project,
  person_id text not null references person,
  primary key (project_id, person_id)
);
create index if not exists member_person_id on member (person_id);

-- The last number of an issue, by the key of its team.
create table if not exists issue_number (
  key text primary key,
  last integer not null
);

create table if not exists issue (
  id text primary key,
  project_id text not null references project,
  number integer not null,
  title text not null check (title <> ''),
  description text not null default '',
  status text not null check (status in ('backlog', 'todo', 'progress', 'review', 'done', 'canceled')),
  priority smallint not null check (priority between 0 and 4),
  assignee_id text references person,
  creator_id text not null references person,
  created_at timestamptz not null default now()
);
create index if not exists issue_project_id on issue (project_id);
create index if not exists issue_open on issue (project_id) where status not in ('done', 'canceled');
create index if not exists issue_assignee_id on issue (assignee_id);

create table if not exists label (
  name text primary key,
  hue integer not null
);

create table if not exists issue_label (
  issue_id text not null references issue on delete cascade,
  label text not null references label,
  primary key (issue_id, label)
);
create index if not exists issue_label_label on issue_label (label);

create table if not exists comment (
  id text primary key,
  issue_id text not null references issue on delete cascade,
  author_id text not null references person,
  body text not null check (body <> ''),
  created_at timestamptz not null default now()
);
create index if not exists comment_issue_id on comment (issue_id);
create index if not exists comment_author_id on comment (author_id);

-- The time until which a person has read an issue.
create table if not exists seen (
  issue_id text not null references issue on delete cascade,
  person_id text not null references person,
  at timestamptz not null default now(),
  primary key (issue_id, person_id)
);
